/** Messages to people name the websites whose logins a stealer log has; webhooks say what their contract says. */
import { beforeEach, expect, test } from "vitest";
import * as channels from "../../shared/alerting/channels/channel.ts";
import { readContent } from "../../shared/alerting/messages/content.ts";
import * as subscription from "../../shared/hibp/subscription.ts";
import { reply } from "../hibp/upstream-server.ts";
import { deliveriesOf, describeBreach, domain, inBreaches, useBreachedPeople } from "./breached-people.ts";
import { createChannel, webhook } from "./channels.ts";
import { mails, sendAll, useMailServer } from "./mail-deliveries.ts";

const { workers, scan, organizationOf } = useBreachedPeople();
useMailServer();

/** What HIBP says of the aliases of the domain. */
let logs: Record<string, string[]>;

beforeEach(async () => {
  const { answer } = workers.upstream;
  workers.upstream.answer = (path, request, response) => {
    if (path === "subscription/status") reply(response, 200, { Rpm: 6000, IncludesStealerLogs: true });
    else if (path === `stealerlogsbyemaildomain/${domain}`) reply(response, 200, logs);
    else answer(path, request, response);
  };
  await subscription.refresh();
  await describeBreach("Logs", { isStealerLog: true, severity: "critical", title: "Logs" });
});

test("a message about one person names them, to the channel and to the owner", async () => {
  logs = { user0: ["bank.example", "mail.example"] };
  const org = await organizationOf(10);
  await createChannel(org, { tellOwners: true });
  const webhookId = await createChannel(org, {}, webhook);
  await scan(org, { 0: ["Logs", "Alpha"], 1: ["Alpha"] });
  const [delivery] = (await deliveriesOf(org, webhookId)).filter(({ event }) =>
    JSON.stringify(event).includes(","),
  );
  const channel = await channels.get(org, webhookId);
  if (delivery === undefined || channel === undefined) throw new Error("The webhook has no delivery");
  const content = JSON.stringify(await readContent(org, delivery, channel));
  expect(content).toContain("Logs");
  expect(content).not.toContain("bank.example");
  await sendAll();
  expect(mails.received.toSorted()).toEqual(["team@other.example", `user0@${domain}`, `user1@${domain}`]);
  for (const text of mails.texts) {
    const isAboutLog = /[* ] Logs · critical\n/.test(text);
    expect(text.includes("  Logins stolen for: bank.example, mail.example\n")).toBe(isAboutLog);
  }
  expect(mails.texts.filter((text) => text.includes("Logins stolen for"))).toHaveLength(2);
});

test("a message about many people names those of all of them, each once", async () => {
  logs = Object.fromEntries(
    Array.from({ length: 30 }, (_, index) => [`user${index}`, ["bank.example", `site${index}.example`]]),
  );
  const org = await organizationOf(30);
  await createChannel(org);
  await scan(org, inBreaches(30, "Logs"));
  await sendAll();
  const [line = ""] = /Logins stolen for: .*/.exec(mails.texts.at(-1) ?? "") ?? [];
  expect(line.match(/bank\.example/g)).toHaveLength(1);
  expect(line.match(/site\d+\.example/g)?.length).toBeGreaterThan(20);
});
