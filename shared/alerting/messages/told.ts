/** What an attempt tells, in both forms in which kinds of channels send it. */
import { asLine } from "../kinds/as-line.ts";
import type { Event } from "../kinds/events.ts";
import type { Told } from "../kinds/kind.ts";
import type { Notice, NoticeContext } from "../kinds/notice.ts";
import type { Content } from "./content.ts";
import { wordsFor } from "./words.ts";

export const toldOf = (content: Content, context: NoticeContext): Told => ({
  notice: () => noticeOf(content, context),
  event: () => eventOf(content),
  ...(content.kind === "owner" && { owner: content.address }),
});

export const eventOf = (content: Content): Event => {
  const { kind } = content;
  const person = kind === "example" ? content.of : content;
  if (person.kind === "person") {
    // The contract has no other field that can say that an event is a test.
    const titleOf = (title: string) => (kind === "example" ? `Test: ${title}` : title);
    const breaches = person.breaches.map((breach) => ({
      ...breach,
      title: titleOf(breach.title),
      breachId: breach.id,
    }));
    return { type: "breach", data: { breaches } };
  }
  if (content.kind !== "scan") throw new Error("Webhooks get events alone");
  const { type, ...data } = content.event;
  return { type, data } as Event;
};

/** In characters. */
const maximumOrganization = 100;
const maximumOrganizationInSubject = 60;

export const noticeOf = (
  content: Content,
  { organizationName: name, dashboardUrl }: NoticeContext,
): Notice => {
  const organizationName = asLine(name, maximumOrganization);
  const nameInSubject = asLine(name, maximumOrganizationInSubject);
  const { subject, ...words } = wordsFor(content, { organizationName, dashboardUrl });
  const isOfPeople = subject !== undefined && content.kind !== "owner";
  return {
    severity: undefined,
    threads: [],
    facts: [],
    items: [],
    advice: undefined,
    link: undefined,
    ...words,
    summary: `${subject ?? words.headline} ${isOfPeople ? `at ${nameInSubject}` : `(${nameInSubject})`}`,
    organizationName,
  };
};
