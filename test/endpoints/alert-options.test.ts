import { describe, expect, test } from "vitest";
import { createChannel, publicUrl } from "../service/alert-channels.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { expectRefusal } from "./reply.ts";

const slack = { channel: "slack", config: { webhookUrl: publicUrl } };
const email = { channel: "email", config: { recipients: ["security@demo.example"] } };
const webhook = { channel: "webhook", config: { url: publicUrl } };

const defaults = {
  name: null,
  minSeverity: "low",
  grouping: "scan",
  sensitive: "discreet",
  tellOwners: false,
  details: false,
};

const create = async (body: Record<string, unknown>): Promise<Organization & { path: string }> => {
  const organization = await createOrganization();
  const id = await createChannel(organization.api, body);
  return { ...organization, path: `/alert-configs/${id}/options` };
};

test.each([
  ["a Slack", slack, defaults],
  ["an e-mail", email, defaults],
  ["a webhook", webhook, { ...defaults, grouping: "address", sensitive: "named" }],
])("GET 200: shows the defaults of %s channel", async (_, body, expected) => {
  const { api, path } = await create(body);
  const reply = await api.get(path);
  expect(reply).toMatchObject({ status: 200 });
  expect(reply.body).toEqual(expected);
});

describe("PUT 200", () => {
  test("replaces all options, logs that once, and keeps the channel itself", async () => {
    const { api, path } = await create(email);
    const before = (await api.get("/alert-configs")).body;
    const options = {
      name: "Security team",
      minSeverity: "high",
      grouping: "week",
      sensitive: "named",
      tellOwners: true,
      details: false,
    };
    for (let count = 0; count < 2; count++) {
      const reply = await api.put(path, options);
      expect(reply).toMatchObject({ status: 200 });
      expect(reply.body).toEqual(options);
    }
    expect((await api.get(path)).body).toEqual(options);
    expect((await api.get("/alert-configs")).body).toEqual(before);
    const activity = await api.list("/activity");
    const changes = activity.filter(({ summary }) => summary.startsWith("Changed"));
    expect(changes).toHaveLength(1);
    expect(changes[0]?.summary).toMatch(/name changed, least severity changed, grouping changed/);
    expect(changes[0]?.summary).not.toContain("Security team");
  });

  test("a webhook can have details, and only with them one event per breach", async () => {
    const { api, path } = await create(webhook);
    const { details: _, ...before } = { ...defaults, grouping: "address", sensitive: "named" };
    const options = { ...before, grouping: "scan", details: true };
    expect((await api.put(path, options)).body).toEqual(options);
    // Clients from before the option leave it out.
    expect((await api.put(path, before)).body).toEqual({ ...before, details: false });
  });

  test.each([
    ["a webhook", email, [webhook], { ...defaults, grouping: "address", sensitive: "named" }],
    ["by e-mail again", email, [slack, email], defaults],
    ["a Slack channel", webhook, [slack], defaults],
  ])(
    "a channel that becomes %s has the defaults of its kind, and its name",
    async (_, from, forms, expected) => {
      const { api, path } = await create(from);
      const ofKind =
        from === email ? { grouping: "day", tellOwners: true } : { grouping: "address", sensitive: "named" };
      await api.put(path, { ...defaults, name: "Mine", ...ofKind });
      for (const form of forms) await api.patch(path.replace("/options", ""), form);
      expect((await api.get(path)).body).toEqual({ ...expected, name: "Mine" });
    },
  );
});

test("PUT 400: what the kind of the channel does not have", async () => {
  const hook = await create(webhook);
  for (const grouping of ["scan", "day", "week"])
    expectRefusal(
      await hook.api.put(hook.path, { ...defaults, grouping }),
      400,
      /^grouping: must be address/,
    );
  for (const body of [slack, webhook]) {
    const { api, path } = await create(body);
    const reply = await api.put(path, { ...defaults, grouping: "address", tellOwners: true });
    expectRefusal(reply, 400, /^tellOwners: /);
  }
  for (const grouping of ["day", "week"])
    expectRefusal(
      await hook.api.put(hook.path, { ...defaults, grouping, details: true }),
      400,
      /^grouping: must be address for a webhook, or scan with details/,
    );
  const { api, path } = await create(email);
  expectRefusal(await api.put(path, { ...defaults, details: true }), 400, /^details: /);
});
