import { describe, expect, test } from "vitest";
import { setAlertOptions } from "../../functions/set-alert-options/endpoint.ts";
import { createChannel, publicUrl } from "../service/alert-channels.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { expectInvalid } from "./invalid.ts";
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
  test("replaces all options, once in the activity log, and leaves the channel as it is", async () => {
    const { api, path } = await create(email);
    const before = (await api.get("/alert-configs")).body;
    const options = {
      name: "Security team",
      minSeverity: "high",
      grouping: "week",
      sensitive: "named",
      tellOwners: true,
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

  test("a channel that becomes a webhook has the options of a webhook", async () => {
    const { api, path } = await create(email);
    await api.put(path, { ...defaults, grouping: "day", tellOwners: true });
    await api.patch(path.replace("/options", ""), webhook);
    expect((await api.get(path)).body).toMatchObject({ grouping: "address", tellOwners: false });
  });

  test("a channel that is by e-mail again does not tell owners by itself", async () => {
    const { api, path } = await create(email);
    await api.put(path, { ...defaults, tellOwners: true });
    for (const form of [slack, email]) await api.patch(path.replace("/options", ""), form);
    expect((await api.get(path)).body).toEqual(defaults);
  });

  test("a webhook that becomes a Slack channel is discreet, and gets few messages", async () => {
    const { api, path } = await create(webhook);
    await api.put(path, { ...defaults, name: "Hook", grouping: "address", sensitive: "named" });
    await api.patch(path.replace("/options", ""), slack);
    expect((await api.get(path)).body).toEqual({ ...defaults, name: "Hook" });
  });
});

describe("400", () => {
  test.each(Object.keys(defaults))("PUT without %s", (field) =>
    expectInvalid(
      setAlertOptions,
      { id: "1", body: { ...defaults, [field]: undefined } },
      `${field}: is required`,
    ),
  );

  test.each([
    ["minSeverity", "none", /^minSeverity: /],
    ["grouping", "month", /^grouping: /],
    ["sensitive", "silent", /^sensitive: /],
    ["tellOwners", "yes", /^tellOwners: /],
    ["name", " ", /^name: /],
    ["name", "x".repeat(101), /^name: /],
    ["minSeverty", "high", /^minSeverty: is an unknown field$/],
  ])("PUT with %s %j", (field, value, error) =>
    expectInvalid(setAlertOptions, { id: "1", body: { ...defaults, [field]: value } }, error),
  );

  test("PUT with what the kind of the channel does not have", async () => {
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
  });
});
