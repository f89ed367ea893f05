import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Body, SESv2Client, SendEmailCommand, type SendEmailCommandInput } from "@aws-sdk/client-sesv2";
import { expect, onTestFinished, test } from "vitest";
import { startOutbox } from "../../../local/ses/outbox.ts";
import { clientOf } from "../template.ts";

const Html = { Data: "<p>Grüße</p>" };

const start = async () => {
  const directory = await mkdtemp(join(tmpdir(), "outbox-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const outbox = await startOutbox({ directory });
  onTestFinished(outbox.close);
  const client = new SESv2Client(clientOf(outbox.url));
  onTestFinished(() => client.destroy());
  return {
    send: (input: Partial<SendEmailCommandInput>) =>
      client.send(
        new SendEmailCommand({
          FromEmailAddress: "alerts@demo.example",
          Destination: { ToAddresses: ["ada@demo.example"] },
          Content: undefined,
          ...input,
        }),
      ),
    read: async () => {
      const names = (await readdir(directory)).sort();
      expect(names.every((name) => name.endsWith(".eml"))).toBe(true);
      return Promise.all(names.map((name) => readFile(join(directory, name), "utf8")));
    },
  };
};

test("a simple message becomes a file with its headers and both bodies", async () => {
  const { send, read } = await start();
  const { MessageId } = await send({
    Content: {
      Simple: {
        Subject: { Data: "Neue Datenlecks für zwölf Adressen" },
        Body: { Text: { Data: "Grüße\nZeile" }, Html },
        Headers: [{ Name: "X-Kind", Value: "breach" }],
      },
    },
  });
  expect(MessageId).toBeDefined();
  const [message = ""] = await read();
  const [head = "", ...rest] = message.split("\r\n\r\n");
  expect(head).toContain("From: alerts@demo.example\r\n");
  expect(head).toContain("To: ada@demo.example\r\n");
  expect(head).toContain("X-Kind: breach");
  expect(head).toContain("Subject: Neue Datenlecks für zwölf Adressen\r\n");
  expect(rest.join("\r\n\r\n")).toContain("Grüße\r\nZeile");
  expect(rest.join("\r\n\r\n")).toContain("<p>Grüße</p>");
});

test("a message that is refused leaves no file", async () => {
  const { send, read } = await start();
  const Text = { Data: "text" };
  const simple = (Data: string, Body: Body = { Text, Html }) => ({ Simple: { Subject: { Data }, Body } });
  const to = (...ToAddresses: string[]) => ({ Destination: { ToAddresses }, Content: simple("a") });
  for (const wrong of [
    { Content: simple("a\r\nBcc: eve@demo.example") },
    { Content: simple("a", {}) },
    { Content: simple("a", { Text }) },
    to(),
    to("ada@demo.example", "alan@demo.example"),
  ]) {
    await expect(send(wrong)).rejects.toMatchObject({ name: "BadRequestException" });
  }
  expect(await read()).toEqual([]);
});
