/** What the person who handles a finding can do, by what leaked. */
import { type Exposure, type Topic, topicOf } from "./severity.ts";

export type Advice = { title: string; steps: string[] };

/** More is read by nobody. */
const maximumAdvice = 4;

const infected: Advice = {
  title: "A device of this person is infected, or was",
  steps: [
    "Isolate the device from the network and reinstall it: cleaning it is not enough.",
    "End all sessions of the person, here and at other services: stolen cookies need no password.",
    "From another device, change every password that was stored or typed on it, and turn on a second factor.",
  ],
};

const fabricated: Advice = {
  title: "The data may be invented",
  steps: ["Have I Been Pwned holds it for made up in part: no account has to be changed because of it."],
};

const spamList: Advice = {
  title: "The address is on a list of senders of spam",
  steps: [
    "Nothing was broken into: no password has to be changed.",
    "Expect more unwanted mail, and open no attachments and links of strangers.",
  ],
};

/** Worst first. Topics that share an advice share its object. */
const byTopics: readonly { topics: readonly Topic[]; advice: Advice }[] = [
  {
    topics: ["credentials"],
    advice: {
      title: "Secrets that open accounts leaked",
      steps: [
        "Change the password there, and wherever it was used again, the account at work first.",
        "Turn on a second factor, where possible a passkey or an app instead of text messages.",
        "Replace answers to security questions, PINs, keys and tokens that were used there.",
      ],
    },
  },
  {
    topics: ["payment"],
    advice: {
      title: "Bank accounts or cards can be misused",
      steps: [
        "Tell the person at once, and have the bank block the card or watch the account.",
        "Look through the statements of the last months, and dispute what nobody knows.",
      ],
    },
  },
  {
    topics: ["identity"],
    advice: {
      title: "Identity documents leaked",
      steps: [
        "Tell the person: somebody may open accounts or contracts in their name.",
        "Watch for fraud: ask credit agencies for a freeze or an alert, and report misuse to the police.",
        "Ask the issuing office whether the document should be replaced.",
      ],
    },
  },
  {
    topics: ["intimate"],
    advice: {
      title: "Very personal data leaked",
      steps: [
        "Tell the person alone and in confidence, and nobody else.",
        "Warn of blackmail: pay nothing, keep the messages, and report them to the police.",
      ],
    },
  },
  {
    topics: ["contact", "messages", "money", "life", "traces"],
    advice: {
      title: "Expect phishing that knows details",
      steps: [
        "Warn the person of calls, text messages and mails that name what leaked, also in the name of the breached service.",
        "Confirm requests for money or data by a way that is known already, never by the one that the message offers.",
      ],
    },
  },
  {
    topics: ["profile", "work", "habits"],
    advice: {
      title: "Expect more unwanted mail",
      steps: ["Open no links and attachments of strangers, and report mails that ask to sign in."],
    },
  },
];

/** The advice for a breach, worst first, at most four. */
export const adviceOf = (breach: Exposure): Advice[] => {
  if (breach.isFabricated && !breach.isStealerLog && !breach.isMalware) return [fabricated];
  if (breach.isSpamList && !breach.isStealerLog && !breach.isMalware) return [spamList];
  const leaked = new Set(breach.dataClasses.map((dataClass) => topicOf(dataClass) ?? "life"));
  const fitting = byTopics.filter(({ topics }) => topics.some((topic) => leaked.has(topic)));
  return [
    ...(breach.isStealerLog || breach.isMalware ? [infected] : []),
    ...fitting.map(({ advice }) => advice),
  ].slice(0, maximumAdvice);
};
