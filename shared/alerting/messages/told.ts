/** What an attempt tells, in both forms in which kinds of channels send it. */
import { asLine } from "../kinds/as-line.ts";
import type { Event } from "../kinds/events.ts";
import type { Told } from "../kinds/kind.ts";
import type { Notice, NoticeContext } from "../kinds/notice.ts";
import type { Content } from "./content.ts";
import { wordsFor } from "./words.ts";

export const toldOf = (content: Content, context: NoticeContext): Told => ({
  notice: () => noticeOf(content, context),
  event: () => eventOf(content, context.dashboardUrl),
  ...(content.kind === "owner" && { owner: content.address }),
});

export const eventOf = (content: Content, dashboardUrl: string): Event => {
  const report = content.kind === "example" ? content.of : content;
  if (report.kind === "event") {
    const { breaches, people, place, findings } = report;
    // The contract has no other field that can say that an event is a test.
    const prefix = content.kind === "example" ? "Test: " : "";
    return {
      type: "breach",
      data: {
        breaches: breaches.map(({ id, title, domain, dataClasses }) => ({
          breachId: id,
          title: prefix + title,
          domain,
          dataClasses,
        })),
        ...(findings && {
          details: {
            severity: breaches[0]?.severity ?? "low",
            isStealerLog: breaches.some(({ isStealerLog }) => isStealerLog),
            isSensitive: breaches.some(({ isSensitive }) => isSensitive),
            people,
            findings,
            url: `${dashboardUrl}${place}`,
          },
        }),
      },
    };
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
