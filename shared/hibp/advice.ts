/** What can be done, by what leaked: by the person who handles a finding, and by the owner of the address. */
import { type Exposure, type Topic, topicOf } from "./severity.ts";

type Advice = { title: string; steps: string[] };

/** People do not read more than this. */
const maximumAdvice = 4;

const infected: Advice = {
  title: "A device of this person is or was infected",
  steps: [
    "Isolate the device from the network and reinstall it: cleaning it is not enough.",
    "End all sessions of the person, here and at other services: stolen cookies need no password.",
    "From another device, change every password that was stored or typed on it, and turn on a second factor.",
  ],
};

const infectedForOwner = [
  "A program that steals passwords is or was on one of your devices. Stop using that device " +
    "until it has been checked and reinstalled.",
  "From another device, change every password that was stored or typed on it, and turn on a second factor.",
];

const nothingLost = [
  "You need not change a password because of it. Expect more unwanted mail, and do not open " +
    "links or attachments from strangers.",
];

const fabricated: Advice = {
  title: "The data may be invented",
  steps: [
    "Have I Been Pwned believes that some of it is made up. No password has to be changed because of it.",
  ],
};

const spamList: Advice = {
  title: "The address is on a list that spammers use",
  steps: [
    "No service was broken into, and no password has to be changed.",
    "Expect more unwanted mail, and do not open links or attachments from strangers.",
  ],
};

/** Worst first. Topics that share an advice share its object. */
const byTopics: readonly { topics: readonly Topic[]; advice: Advice; forOwner: string[] }[] = [
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
    forOwner: [
      "Change your password there, and wherever you have used the same one, your account at work first.",
      "Turn on a second factor, where possible a passkey or an app instead of text messages.",
    ],
  },
  {
    topics: ["payment"],
    advice: {
      title: "Bank accounts or cards can be misused",
      steps: [
        "Tell the person at once, and have the bank block the card or watch the account.",
        "Look through the statements of the last months, and dispute payments that nobody recognizes.",
      ],
    },
    forOwner: ["Ask your bank to block the card or to watch the account, and look through your statements."],
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
    forOwner: [
      "Watch for contracts and accounts in your name, and report misuse to the police.",
      "Ask the office that issued the document whether it should be replaced.",
    ],
  },
  {
    topics: ["intimate"],
    advice: {
      title: "Very personal data leaked",
      steps: [
        "Tell the person in confidence, and nobody else.",
        "Warn them of blackmail: pay nothing, keep the messages, and report them to the police.",
      ],
    },
    forOwner: ["If somebody blackmails you: pay nothing, keep the messages, and report them to the police."],
  },
  {
    topics: ["contact", "messages", "money", "life", "traces"],
    advice: {
      title: "Expect phishing that knows details",
      steps: [
        "Warn the person of calls, text messages and mails that name what leaked, even if they " +
          "seem to come from the breached service.",
        "Confirm requests for money or data in a way that is already known, never in the way that the message offers.",
      ],
    },
    forOwner: [
      "Expect calls and messages that name what leaked. Confirm what they ask for in a way that you already know.",
    ],
  },
  {
    topics: ["profile", "work", "habits"],
    advice: {
      title: "Expect more unwanted mail",
      steps: ["Do not open links or attachments from strangers, and report mails that ask to sign in."],
    },
    forOwner: ["Do not open links or attachments from strangers, and report mails that ask you to sign in."],
  },
];

/** The advice for a breach, worst first, at most four. */
export const adviceOf = (breach: Exposure): Advice[] => {
  if (isOnly(breach, "isFabricated")) return [fabricated];
  if (isOnly(breach, "isSpamList")) return [spamList];
  return [
    ...(breach.isStealerLog || breach.isMalware ? [infected] : []),
    ...fitting(breach).map(({ advice }) => advice),
  ].slice(0, maximumAdvice);
};

/** What the owner of an address in a breach can do, worst first. */
export const stepsForOwner = (breach: Exposure): string[] => {
  if (isOnly(breach, "isFabricated") || isOnly(breach, "isSpamList")) return [...nothingLost];
  return [
    ...(breach.isStealerLog || breach.isMalware ? infectedForOwner : []),
    ...fitting(breach).flatMap(({ forOwner }) => forOwner),
  ];
};

const isOnly = (breach: Exposure, flag: "isFabricated" | "isSpamList"): boolean =>
  breach[flag] && !breach.isStealerLog && !breach.isMalware;

const fitting = ({ dataClasses }: Exposure) => {
  const leaked = new Set(dataClasses.map((dataClass) => topicOf(dataClass) ?? "life"));
  return byTopics.filter(({ topics }) => topics.some((topic) => leaked.has(topic)));
};
