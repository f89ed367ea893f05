/** Columns by which directories and personnel systems say that somebody has left, or is shut out. */

import { fold } from "../../contract/search-text.ts";

type Says = (value: string, today: string) => boolean;

/** What the columns of a heading say; headings and values are without case and accents, headings of letters alone. */
const kinds: [heading: RegExp, says: Says][] = [
  [/^useraccountcontrol$/, (value) => (Number(value) & accountDisabled) !== 0],
  [
    new RegExp(
      "^(?:is|user|account|login|signin|konto|benutzer)*" +
        "(?:active|enabled|activated|aktiv|aktiviert|actif|activo|attivo|ativo|actief)$",
    ),
    (value) => no.test(value) || hasLeft.test(value),
  ],
  [
    new RegExp(
      "^(?:is|user|account|employee|login|signin|konto)*" +
        "(?:suspended|disabled|deactivated|inactive|blocked|terminated|archived|deleted|departed|offboarded" +
        "|gesperrt|deaktiviert|inaktiv|ausgeschieden" +
        "|desactive|inactif|desactivado|inactivo|disattivato)$" +
        "|^block(?:credential|signin)$",
    ),
    (value, today) => yes.test(value) || hasLeft.test(value) || isPast(value, today),
  ],
  [
    new RegExp(
      "^(?:user|account|employee|employment|worker|member|membership|person|lifecycle|login|signin" +
        "|benutzer|konto|mitarbeiter|beschaftigungs)*" +
        "(?:status|state|statut|estado|stato|situacao)(?:ducompte)?$",
    ),
    (value) => hasLeft.test(value),
  ],
  [
    new RegExp(
      "^(?:employment|contract|work)?(?:termination|leaving|exit|separation|end)date$" +
        "|^lastday(?:ofwork)?$|^lastworkingday$|^softdeletiontimestamp$" +
        "|^austritt(?:sdatum)?$|^datedesortie$|^fechadebaja$|^datacessazione$|^uitdienst(?:datum)?$",
    ),
    (value, today) => isPast(value, today),
  ],
];

/** A bit of Active Directory's userAccountControl. */
const accountDisabled = 2;

const yes = /^(?:true|yes|y|1|x|ja|oui|si|sim|wahr|vrai|verdadero|vero|verdadeiro|waar)$/;
const no = /^(?:false|no|n|0|nein|non|nao|nee|falsch|faux|falso|onwaar)$/;
const hasLeft = new RegExp(
  "^(?:account |user |employee |sign-?in )?" +
    "(?:suspend|inacti[vf]|inattiv|inativ|inaktiv|deactivat|desactiv|desativ|deaktiv|disattiv|disabled" +
    "|terminat|archived|deleted|offboarded|deprovision|departed|former|resigned|retired|revoked" +
    "|no longer|left\\b|blocked|blockiert|gesperrt|bloque|bloccat|ausgeschieden|ausgetreten|gekundigt" +
    "|sospes|cessat|cesad|baja$|sorti\\b|uit dienst)",
);

/** Whether a value begins with a date before today. Where day and month can be exchanged the later date counts. */
const isPast: Says = (value, today) => {
  const [first = "", second = "", third = ""] = /^(\d+)[-/.](\d+)[-/.](\d+)/.exec(value)?.slice(1) ?? [];
  const readings = /^\d{4}$/.test(first)
    ? [[first, second, third]]
    : [
        [third, second, first],
        [third, first, second],
      ];
  const dates = readings
    .filter(([, month]) => Number(month) >= 1 && Number(month) <= 12)
    .map((parts) => parts.map((part) => part.padStart(2, "0")).join("-"));
  return dates.length > 0 && dates.every((date) => /^\d{4}-\d\d-\d\d$/.test(date) && date < today);
};

export type DepartureColumn = { index: number; says: Says };

/** The columns with one of these headings. A column can have two: "Status [status]". */
export const departureColumnsOf = (headings: readonly (readonly string[])[]): DepartureColumn[] =>
  headings.flatMap((texts, index) => {
    const says = kinds.find(([heading]) => texts.some((text) => heading.test(text)))?.[1];
    return says === undefined ? [] : [{ index, says }];
  });

/** The first column that says that the person of a row has left. `today` as YYYY-MM-DD. */
export const departureIn = (
  cells: readonly string[],
  columns: readonly DepartureColumn[],
  today: string,
): number | undefined =>
  columns.find(({ index, says }) => says(fold(cells[index] ?? "").trim(), today))?.index;
