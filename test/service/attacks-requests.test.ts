import { beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { signedIn, visitor } from "../dashboard/signed-in.ts";
import { expectRefusal } from "../endpoints/reply.ts";
import { boundary, postForm, preview } from "../endpoints/upload.ts";
import { createChannel, listDeliveries } from "./alert-channels.ts";
import type { Reply } from "./client.ts";
import { eventually } from "./eventually.ts";
import { createKeyClient, createOrganization, type Organization } from "./organization.ts";
import { receivedAt, waitForRequests } from "./receiver.ts";

let organization: Organization;
beforeAll(async () => {
  organization = await createOrganization();
});
// Each test has a key of its own, since requests are limited by key.
beforeEach(async () => {
  organization.api = await createKeyClient(organization.id);
});

const emailTotal = async (): Promise<unknown> => (await organization.api.get("/emails")).body.total;

/** Asserts that a reply is 400 and that no e-mail was added. */
const expectRefusedWithoutEffect = async (send: () => Promise<Reply>, name: string): Promise<void> => {
  const before = await emailTotal();
  expect([name, (await send()).status]).toEqual([name, 400]);
  expect(await emailTotal()).toBe(before);
};

describe("input in the form of a query language", () => {
  test("does not change what a list shows", async () => {
    const { api, domainId } = organization;
    await api.post("/emails", { email: "ada@demo.example", domainId });
    const ignored = [
      "limit[]=1",
      "isActive[$ne]=true",
      "isActive[]=false",
      "$where=1",
      "domainId.gt=0",
      "filter=%7B%7D",
    ];
    const whole = (await api.get("/emails")).body;
    for (const query of ignored) {
      expect([query, (await api.get(`/emails?${query}`)).body]).toEqual([query, whole]);
    }
    for (const query of [
      "domainId=1%20OR%201=1",
      "domainId=%7B%22$gt%22:0%7D",
      "domainId=1;--",
      "isActive=true%00",
      "isActive=TRUE",
      "isActive=1",
      "teamId=*",
      "teamId=null",
    ]) {
      expectRefusal(await api.get(`/emails?${query}`), 400, /^(domainId|isActive|teamId)/);
    }
  });

  test("and names that every object has are no values of fields", async () => {
    const { api } = organization;
    const { dashboard } = await signedIn(organization.id);
    for (const name of ["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf"]) {
      const replies = await Promise.all([
        api.get(`/activity?category=${name}`),
        api.get(`/scans?type=${name}`),
        api.get(`/scans?status=${name}`),
        api.post("/alert-configs", { channel: name, config: {} }),
        api.post("/breaches/acknowledge", { id: 1, resolution: name }),
        dashboard.patch("/organization", { scanEvery: name }),
        dashboard.post("/members", { email: "new@other.example", role: name }),
      ]);
      expect([name, replies.map(({ status }) => status)]).toEqual([name, Array(7).fill(400)]);
    }
  });
});

describe("bodies", () => {
  test("in another encoding than UTF-8, or not in the form that it has, add nothing", async () => {
    const { api, domainId } = organization;
    const json = (email: string) => `{"email":"${email}","domainId":${domainId}}`;
    const overlong = Buffer.from(json("a?demo.example"), "latin1");
    // C1 80 is what an @ would be in two bytes, which UTF-8 forbids.
    const at = overlong.indexOf("?");
    const bodies: [name: string, raw: Buffer][] = [
      ["UTF-16", Buffer.from(`\ufeff${json("utf16@demo.example")}`, "utf16le")],
      ["UTF-7", Buffer.from(json("utf7+AEA-demo.example"))],
      [
        "overlong",
        Buffer.concat([overlong.subarray(0, at), Buffer.from([0xc1, 0x80]), overlong.subarray(at + 1)]),
      ],
      ["Latin-1", Buffer.from(json("ol\u00e9@demo.example"), "latin1")],
      ["half a character", Buffer.concat([Buffer.from(json("x@demo.example")), Buffer.from([0xe2, 0x82])])],
    ];
    for (const [name, raw] of bodies) {
      for (const type of [
        "application/json",
        "application/json; charset=utf-7",
        "application/json; charset=utf-16",
      ]) {
        const send = () => api.request("POST", "/emails", { raw, headers: { "content-type": type } });
        await expectRefusedWithoutEffect(send, `${name} as ${type}`);
      }
    }
  });

  test("with texts and lists of half a megabyte in every field are refused", async () => {
    const { api, domainId, id } = organization;
    const { dashboard } = await signedIn(id);
    const long = "a".repeat(500_000);
    const dotted = `${"a.".repeat(250_000)}example`;
    const many = Array.from({ length: 50_000 }, (_, index) => index + 1);
    const replies = await Promise.all([
      api.post("/emails", { email: `${long}@demo.example`, domainId }),
      api.post("/emails", { email: `a@${dotted}`, domainId }),
      api.post("/emails", { email: "@".repeat(500_000), domainId }),
      api.post("/emails", { email: "ada@demo.example", domainId, ownerName: " ".repeat(500_000) }),
      api.post("/breaches/acknowledge", { id: 1, reason: long }),
      api.post("/breaches/acknowledgements", { ids: many }),
      api.post("/alert-configs", { channel: "webhook", config: { url: `https://${dotted}` } }),
      api.post("/alert-configs", {
        channel: "webhook",
        config: { url: "https://192.0.32.8/", secret: long },
      }),
      api.post("/alert-configs", { channel: "email", config: { recipients: many.map(() => "a@b.example") } }),
      api.post("/emails/import/commit", { emails: many.map(() => ({})), quote: {} }),
      dashboard.post("/domains", { name: dotted }),
      dashboard.post("/domains", { name: "-".repeat(500_000) }),
      dashboard.post("/teams", { name: long }),
      dashboard.post("/members", { email: `${long}@x.example`, role: "member" }),
      visitor().post("/sign-in/sessions", { token: long }),
      visitor().post("/sign-in/links", { email: `${long}@x.example` }),
    ]);
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 400));
  });
});

describe("files", () => {
  const content = "email\nada@demo.example\n";

  test("with two names, or one that ends before its end, count as the type they have", async () => {
    const refused = [
      "people.exe\0.csv.exe",
      "people.csv/",
      "people.csv;.exe",
      "people.csv%00",
      "people.csv\u202e",
    ];
    for (const name of refused) {
      expectRefusal(await preview(organization.api, content, name), 400, /^file: |well-formed/);
    }
    const part = (disposition: string) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; ${disposition}\r\n\r\n${content}\r\n--${boundary}--\r\n`;
    for (const disposition of [
      "filename=people.exe; x=.csv",
      "filename*=utf-8''people%2Eexe",
      'filename="a.exe"; size=".csv"',
    ]) {
      expectRefusal(await postForm(organization.api, part(disposition)), 400, /^file: /);
    }
  });
});

test("a webhook's url and secret with line breaks add no header or request", async () => {
  const { id: org, api } = organization;
  const { dashboard } = await signedIn(org);
  const inbox = `${inject("receiverUrl")}/lines-${org}`;
  for (const end of ["\r\nX-Evil: 1", "\t#\r\n\r\nPOST /evil HTTP/1.1", "\n"]) {
    const config = { url: `${inbox}${end}` };
    expectRefusal(await api.post("/alert-configs", { channel: "webhook", config }), 400, /^config\.url/);
  }
  for (const end of ["%0d%0aX-Evil:%201", "?a=%0d%0a%0d%0aPOST%20/evil%20HTTP/1.1"]) {
    const url = `${inbox}${end}`;
    const created = await api.post("/alert-configs", { channel: "webhook", config: { url } });
    expect(created.status).toBe(201);
    const channel = created.body.id as number;
    expect((await dashboard.post(`/alert-configs/${channel}/test`)).status).toBe(202);
    await eventually(
      () => listDeliveries(organization, channel),
      ([delivery]) => delivery?.status === "delivered",
    );
    expect((await api.delete(`/alert-configs/${channel}`)).status).toBe(200);
    const path = new URL(url).pathname;
    const received = await receivedAt(new URL(path, inbox).href);
    expect(received.length).toBeGreaterThan(0);
    for (const { headers } of received) expect(headers).not.toHaveProperty("x-evil");
  }
  expect(await receivedAt(new URL("/evil", inbox).href)).toEqual([]);
  for (const secret of ["a secret\r\nX-Evil: 1", "a secret\u0000", "a secret\u0085of more"]) {
    const config = { url: `${inbox}-secret`, secret };
    expectRefusal(await api.post("/alert-configs", { channel: "webhook", config }), 400, /^config\.secret/);
  }
  const config = { url: `${inbox}-secret`, secret: "a secret that stays" };
  const channel = await createChannel(api, { channel: "webhook", config });
  expect((await api.patch(`/alert-configs/${channel}`, { config: { secret: "x\n" } })).status).toBe(400);
  await dashboard.post(`/alert-configs/${channel}/test`);
  const [received] = await waitForRequests(`${inbox}-secret`, 1);
  expect(received?.headers["x-service-signature"]).toMatch(/^[0-9a-f]{64}$/);
});
