import { administrator } from "../../../shared/access/activity/actor.ts";
import * as apiKeys from "../../../shared/access/keys/api-key.ts";
import { newNoticesToAdmins } from "../../../shared/access/notices/notice.ts";
import { keyAccess, keyEnd, keyLabel } from "../../../shared/access/organizations/organization-schema.ts";
import type { Commands } from "../command.ts";
import { findOrganization, notFound, oneOf, parse, parseId } from "../flags.ts";
import { pick } from "../print.ts";

export const keyCommands: Commands = {
  "key create": {
    about:
      "Creates an API key and prints it, this once. With --access read it may only read; without " +
      "--expires-at it does not end.",
    flags: {
      org: "required ID",
      label: "required TEXT",
      access: `optional ${oneOf(keyAccess)}`,
      "expires-at": "optional TIME",
    },
    isAct: true,
    run: async (flags) => {
      const { id: org } = await findOrganization(flags);
      const end = flags["expires-at"];
      const input = {
        label: parse("label", keyLabel, flags.label),
        access: parse("access", keyAccess, flags.access ?? "full"),
        expiresAt: end === undefined ? null : parse("expires-at", keyEnd, end),
      };
      const notices = await newNoticesToAdmins(org);
      const noticeWrites = () => notices.writes({ about: "api_key", ...input, by: administrator.label });
      const created = await apiKeys.create(org, input, administrator, noticeWrites);
      return { ...shown(created), key: created.key };
    },
  },
  "key list": {
    about: "Lists the API keys, newest first, those that were revoked or have ended included.",
    flags: { org: "required ID" },
    run: async (flags) => {
      const { id: org } = await findOrganization(flags);
      return { keys: (await apiKeys.list(org)).map(shown) };
    },
  },
  "key revoke": {
    about: "Revokes an API key: the next request with it is refused.",
    flags: { org: "required ID", key: "required ID" },
    isAct: true,
    run: async (flags) => {
      const { id: org } = await findOrganization(flags);
      const id = parseId("key", flags);
      if ((await apiKeys.revoke(org, id, administrator)) === "unknown") throw notFound("key", id);
      return { id, revoked: true };
    },
  },
};

const shown = (key: apiKeys.ListedKey) => ({
  ...pick(key, "id", "label", "preview", "createdAt", "lastUsedAt", "access", "expiresAt", "revokedAt"),
  createdBy: key.createdBy?.label ?? null,
});
