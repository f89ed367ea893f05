import { userInfo } from "node:os";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { commands } from "../../bin/admin/commands.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { intercept } from "../aws/table/intercept.ts";
import { admin, commandLine } from "./admin.ts";
import { createOrganization } from "./organization.ts";

type Entry = { at: string; operator: string; command: string; flags: string };

let org: number;
beforeAll(async () => {
  org = (await createOrganization()).id;
});

const list = async (flags: Record<string, string | number> = {}): Promise<Entry[]> =>
  ((await admin("operator-log list", { org, ...flags })) as unknown as { entries: Entry[] }).entries;

describe("the operators' log", () => {
  test("says who did what, when, to which organization, newest first", async () => {
    const { id: user } = await admin("user create", { org, email: "ada@demo.example", role: "member" });
    await admin("session create", { org, user });
    await admin("org billing", { org, status: "trial_expired" });
    await commandLine("scan schedule", { org, every: "week" }, inject("apiUrl"));
    const entries = await list();
    expect(entries.slice(0, 4)).toEqual(
      [
        ["scan schedule", `--org ${org} --every week`],
        ["org billing", `--org ${org} --status trial_expired`],
        ["session create", `--org ${org} --user ${user}`],
        ["user create", `--org ${org} --email ada@demo.example --role member`],
      ].map(([command, flags]) => ({
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        operator: `local user ${userInfo().username}`,
        command,
        flags,
      })),
    );
    expect(entries.map(({ command }) => command)).toEqual(
      expect.arrayContaining(["key create", "domain add"]),
    );
  });

  test("has no entry of what only looks, and one of what is refused", async () => {
    const before = await list();
    await admin("key list", { org });
    await admin("check", { org });
    await admin("finding acknowledge", { org, all: "", "dry-run": "" });
    expect(await list()).toEqual(before);
    await expect(admin("user remove", { org, user: 999_999 })).rejects.toThrow(/no user/);
    expect((await list()).slice(1)).toEqual(before);
  });

  test("pages by time, and other organizations' entries are not shown", async () => {
    const other = await createOrganization();
    const all = await list();
    const [first, ...others] = all;
    const page = await admin("operator-log list", { org, limit: 1 });
    expect(page).toMatchObject({ entries: [first], nextBefore: first?.at });
    expect(await list({ before: String(first?.at) })).toEqual(others);
    const theirs = await list({ org: other.id });
    expect(theirs.map(({ flags }) => flags)).toEqual(
      theirs.map(() => expect.stringContaining(`--org ${other.id}`)),
    );
    expect(theirs.length).toBeGreaterThan(0);
  });

  test("no act is done without an entry", async () => {
    const restore = intercept("initialize", (next, { commandName }) => async (sent) => {
      if (/^Put/.test(commandName ?? "")) throw new Error("died");
      return next(sent);
    });
    await expect(admin("org billing", { org, status: "active" })).rejects.toThrow("died");
    restore();
    expect(await table.get(keys.organization(org))).toMatchObject({ billing: { status: "trial_expired" } });
  });

  test("every command either shows something or is logged", () => {
    const reads = Object.entries(commands).filter(([, { isAct }]) => isAct === undefined);
    for (const [name] of reads) expect(name).toMatch(/ (list|show|check)$|^upstream test$/);
  });
});
