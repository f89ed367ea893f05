import type { ComponentChildren } from "preact";
import type { Overview } from "../../api/routes.ts";
import { addressOf } from "../../place.ts";
import { isMember } from "../../session.ts";

type Step = {
  isDone: boolean;
  title: string;
  how: ComponentChildren;
  link?: readonly [path: string, name: string];
};

const stepsOf = ({ domains, emails, lastScan, channels }: Overview): Step[] => {
  const byAdmins = (step: Step): Step =>
    isMember.value ? { isDone: step.isDone, title: step.title, how: "Ask an admin to do this." } : step;
  return [
    byAdmins({
      isDone: domains.verified + domains.unverified > 0,
      title: "Add your domain",
      how: "The part of the addresses to watch after the @.",
      link: ["/domains", "Go to Domains"],
    }),
    byAdmins({
      isDone: domains.verified > 0,
      title: "Prove that the domain is yours",
      how: "Publish the TXT record that Domains shows, then press Check now there.",
      link: ["/domains", "Go to Domains"],
    }),
    {
      isDone: emails.active + emails.disabled > 0,
      title: "Add the addresses to watch",
      how: "Connect your directory under Settings, import a file, or add them one by one.",
      link: ["/emails", "Go to E-mails"],
    },
    {
      isDone: lastScan !== null,
      title: "Start the first scan",
      how: (
        <>
          It asks Have I Been Pwned about every enabled address. Press <strong>Start scan</strong>.
        </>
      ),
    },
    {
      isDone: channels.length > 0,
      title: "Choose where alerts go",
      how: "Nobody is told of new breaches yet. Add an e-mail, Slack or webhook channel.",
      link: ["/alerts", "Go to Alerts"],
    },
  ];
};

/** What an organization has to do next to be alerted of breaches; nothing once it has done all. */
export function NextStep({ overview }: { overview: Overview }) {
  const steps = stepsOf(overview);
  const index = steps.findIndex(({ isDone }) => !isDone);
  const step = steps[index];
  if (step === undefined) return null;
  const { title, how, link } = step;
  return (
    <section class="notice">
      <p class="muted">
        Next step, {index + 1} of {steps.length}
      </p>
      <h2>{title}</h2>
      <p>{how}</p>
      {link && (
        <a class="button primary" href={addressOf(link[0])}>
          {link[1]}
        </a>
      )}
    </section>
  );
}
