/** Events of single addresses, for webhooks and for channels with the grouping `address`. */
import { chunk } from "../../aws/table/chunk.ts";
import { type FindingRecord, findings } from "../../findings/record.ts";
import { levelOf } from "../../hibp/severity.ts";
import { breachesPerEvent, type NewFindings } from "../../outbox/outbox.ts";
import { type Channel, optionsOf } from "../channels/channel.ts";
import type { AlertEvent } from "../deliveries/delivery.ts";
import { kindOf } from "../kinds/kinds.ts";

/** The events of an outbox row for a channel, each with the worst breach first. */
export const singlesFor = (
  channel: Channel,
  { sensitive = new Set() }: Pick<NewFindings, "sensitive">,
  rows: readonly FindingRecord[],
): AlertEvent[] => {
  const { minSeverity, sensitive: how } = optionsOf(channel);
  const hides = !kindOf(channel).isForPeople && how === "discreet";
  const levelIn = (row: FindingRecord): number => findings.groupOf(row).severity;
  const wanted = rows.filter(
    (row) => levelIn(row) >= levelOf(minSeverity) && !(hides && sensitive.has(row.breachId)),
  );
  return [...Map.groupBy(wanted, ({ emailId }) => emailId)].flatMap(([emailId, ofEmail]) => {
    const worstFirst = ofEmail.toSorted((one, other) => levelIn(other) - levelIn(one));
    return [...chunk(worstFirst, breachesPerEvent)].map((some): AlertEvent => {
      const [first] = some;
      const scanId = first && findings.groupOf(first).scanId;
      return {
        type: "breach",
        ...(scanId && { scanId }),
        breachIds: some.map(({ breachId }) => breachId),
        email: { id: emailId, findingIds: some.map(({ id }) => id) },
      };
    });
  });
};
