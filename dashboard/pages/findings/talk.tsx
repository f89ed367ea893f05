import type { Finding } from "../../api/routes.ts";
import { CopyButton } from "../../components/button.tsx";
import { number } from "../../text/words.ts";
import { peopleOf } from "./people.ts";

/** People to talk to who are named. */
const mostNamed = 10;

/** Sensitive breaches are never mailed: these are words to say instead. */
export function Talk({ findings }: { findings: readonly Finding[] }) {
  const people = peopleOf(findings);
  const text = [
    "Your work address appears in a data breach of a site that may be private to you.",
    "I will not ask about it, and nobody else here is told by e-mail.",
    "If you used a password there that you use elsewhere, please change it today.",
    "Be careful with messages that threaten you with it: do not pay, and tell us.",
  ].join(" ");
  return (
    <div class="notice">
      <p>
        A sensitive breach is never mailed. Talk to{" "}
        {people === 1 ? "this person" : `these ${number(people)} people`} alone:{" "}
        <bdi>{[...new Set(findings.map(({ email }) => email))].slice(0, mostNamed).join(", ")}</bdi>
        {people > mostNamed && ` and ${number(people - mostNamed)} more`}. You can say:
      </p>
      <p class="typed">{text}</p>
      <CopyButton text={text} about="The words for a talk" />
    </div>
  );
}
