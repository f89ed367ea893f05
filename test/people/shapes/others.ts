/** OneLogin, JumpCloud, Ping, authentik, plug-ins of Keycloak, and scripts by hand. */
import { core, coreGroup, enterprise, given, givenGroup, own, patch, type Shape } from "./shape.ts";

const oneLogin = "https://developers.onelogin.com/scim/implement-scim-api";
const ping =
  "https://docs.pingidentity.com/integrations/scim/pf_scim_connector_user_and_group_management.html";
const jumpCloud = "https://support.jumpcloud.com/s/article/Custom-SCIM-Identity-Management";
const authentik = "https://github.com/goauthentik/authentik/blob/main/authentik/providers/scim/clients";

export const others: Shape[] = [
  {
    client: "OneLogin",
    title: "creates a user by the schema of version 1, with a null",
    source: oneLogin,
    requests: [
      {
        method: "GET",
        path: "/Users?filter=userName%20eq%20%22ada%40demo.example%22",
        reply: { totalResults: 0 },
      },
      {
        method: "POST",
        path: "/Users",
        headers: { "content-type": "application/json" },
        as: "ada",
        body: {
          schemas: ["urn:scim:schemas:core:1.0"],
          externalId: null,
          userName: "ada@demo.example",
          nickName: "Countess",
          name: { givenName: "Ada", familyName: "Lovelace" },
          displayName: "alovelace",
          profileUrl: "https://demo.example/team/ada",
          title: "Director",
          timezone: "Pacific Standard Time",
          active: true,
          emails: [{ value: "ada@demo.example", primary: true }],
          photos: [{ value: "https://demo.example/ada.jpg", type: "photo" }],
          groups: [],
        },
        reply: { title: "Director", externalId: undefined, schemas: [core], photos: undefined },
      },
      { method: "GET", path: "/Groups", reply: { totalResults: 0 } },
      { method: "DELETE", path: "/Users/{ada}" },
    ],
  },
  {
    client: "JumpCloud",
    title: "tests with a user and a group that it deletes again",
    source: jumpCloud,
    requests: [
      {
        method: "POST",
        path: "/Users",
        as: "test",
        body: {
          schemas: [core, enterprise],
          userName: "jumpcloud-test@demo.example",
          name: { givenName: "Test", familyName: "User", formatted: "Test User" },
          emails: [{ type: "work", value: "jumpcloud-test@demo.example", primary: true }],
          active: true,
          [enterprise]: { employeeNumber: "", department: "" },
        },
        reply: { name: { formatted: "Test User" } },
      },
      givenGroup("Test"),
      {
        method: "PATCH",
        path: "/Groups/{Test}",
        body: patch({ op: "add", path: "members", value: [{ value: "{test}" }] }),
      },
      {
        method: "PATCH",
        path: "/Groups/{Test}",
        body: patch({ op: "remove", path: "members", value: [{ value: "{test}" }] }),
        after: { "/Users/{test}": { groups: undefined } },
      },
      {
        method: "PUT",
        path: "/Users/{test}",
        body: { schemas: [core], userName: "jumpcloud-test@demo.example", active: false },
        reply: { active: false },
      },
      { method: "DELETE", path: "/Groups/{Test}" },
      { method: "DELETE", path: "/Users/{test}" },
    ],
  },
  {
    client: "PingFederate",
    title: "links users by name, and replaces addresses as a whole",
    source: ping,
    requests: [
      given("ada", {
        emails: [
          { type: "work", value: "ada@demo.example" },
          { type: "home", value: "a@home.example" },
        ],
      }),
      {
        method: "GET",
        path: "/Users?filter=userName+eq+%22ada%40demo.example%22",
        reply: { totalResults: 1 },
      },
      {
        method: "PATCH",
        path: "/Users/{ada}",
        body: patch({
          op: "replace",
          path: "emails",
          value: [{ type: "work", value: "lovelace@demo.example", primary: true }],
        }),
        after: { "/Users/{ada}": { emails: [{ value: "lovelace@demo.example", primary: true }] } },
      },
      {
        method: "PATCH",
        path: "/Users/{ada}",
        body: patch({ op: "REPLACE", path: "name", value: { givenName: "Ada", familyName: "King" } }),
        after: { "/Users/{ada}": { name: { givenName: "Ada", familyName: "King" } } },
      },
    ],
  },
  {
    client: "authentik",
    title: "asks for the configuration, and adds members by an operation each",
    source: `${authentik}/groups.py`,
    requests: [
      {
        method: "GET",
        path: "/ServiceProviderConfig",
        reply: { patch: { supported: true }, bulk: { supported: false }, filter: { supported: true } },
      },
      given("ada", { externalId: "1f" }),
      given("grace", { externalId: "2f" }),
      {
        method: "POST",
        path: "/Groups",
        as: "engines",
        body: { schemas: [coreGroup], externalId: "e3", displayName: "Engines" },
      },
      {
        method: "PATCH",
        path: "/Groups/{engines}",
        body: patch(
          { op: "add", path: "members", value: [{ value: "{ada}" }] },
          { op: "add", path: "members", value: [{ value: "{grace}" }] },
        ),
        after: {
          "/Users/{ada}": { groups: [{ value: "{engines}" }] },
          "/Users/{grace}": { groups: [{ value: "{engines}" }] },
        },
      },
      {
        method: "PATCH",
        path: "/Groups/{engines}",
        body: patch({
          op: "replace",
          value: { schemas: [coreGroup], id: "{engines}", externalId: "e3", displayName: "Engines of 1843" },
        }),
        after: { "/Users/{ada}": { groups: [{ display: "Engines of 1843" }] } },
      },
      {
        method: "PATCH",
        path: "/Groups/{engines}",
        body: patch(
          { op: "remove", path: "members", value: [{ value: "{ada}" }] },
          { op: "remove", path: "members", value: [{ value: "{grace}" }] },
        ),
        after: { "/Users/{grace}": { groups: undefined } },
      },
    ],
  },
  {
    client: "authentik",
    title: "puts users with their id, and finds a group that it made before",
    source: `${authentik}/users.py`,
    requests: [
      given("ada"),
      {
        method: "PUT",
        path: "/Users/{ada}",
        body: {
          schemas: [core],
          id: "{ada}",
          externalId: "6c0b",
          userName: "ada@demo.example",
          name: { formatted: "Ada Lovelace", familyName: "Lovelace", givenName: "Ada" },
          displayName: "Ada Lovelace",
          photos: [],
          locale: "en_GB",
          active: true,
          emails: [{ value: "ada@demo.example", type: "other", primary: true }],
        },
        reply: { externalId: "6c0b", emails: [{ type: "other" }] },
      },
      givenGroup("Engines"),
      {
        method: "POST",
        path: "/Groups",
        body: { schemas: [coreGroup], externalId: "e3", displayName: "engines" },
        status: 409,
        scimType: "uniqueness",
      },
      {
        method: "GET",
        path: "/Groups?filter=displayName+eq+%22Engines%22",
        reply: { totalResults: 1, Resources: [{ id: "{Engines}" }] },
      },
    ],
  },
  {
    client: "A plug-in of Keycloak",
    title: "puts whole groups with relative references",
    source: "https://github.com/mitodl/keycloak-scim",
    requests: [
      {
        method: "POST",
        path: "/Users",
        as: "ada",
        body: {
          schemas: [core],
          externalId: "kc-1",
          userName: "ada",
          displayName: "Ada Lovelace",
          emails: [{ primary: true, value: "ada@demo.example" }],
          active: true,
          roles: [],
        },
        reply: { userName: "ada", emails: [{ primary: true, value: "ada@demo.example" }] },
      },
      givenGroup("engines"),
      {
        method: "PUT",
        path: "/Groups/{engines}",
        body: {
          schemas: [coreGroup],
          id: "{engines}",
          externalId: "kc-g1",
          displayName: "engines",
          members: [{ value: "{ada}", $ref: "Users/{ada}" }],
          meta: { location: "Groups/{engines}" },
        },
        after: { "/Users/{ada}": { groups: [{ value: "{engines}" }] } },
      },
      {
        method: "PUT",
        path: "/Users/{ada}",
        body: {
          schemas: [core],
          id: "{ada}",
          externalId: "kc-1",
          userName: "ada",
          displayName: "Ada King",
          emails: [],
          active: false,
          roles: [{ value: "admin" }],
          meta: { location: "Users/{ada}" },
        },
        reply: { displayName: "Ada King", active: false, emails: undefined },
      },
    ],
  },
  {
    client: "WSO2",
    title: "adds members by a value without a path, with references",
    source: "https://github.com/wso2/product-is/issues/5333",
    requests: [
      given("ada"),
      givenGroup("engines"),
      {
        method: "PATCH",
        path: "/Groups/{engines}",
        body: patch({
          op: "add",
          value: { members: [{ display: "PRIMARY/ada", value: "{ada}", $ref: "{base}/Users/{ada}" }] },
        }),
        after: { "/Groups/{engines}": { members: [{ value: "{ada}" }] } },
      },
      {
        method: "PATCH",
        path: "/Groups/{engines}",
        body: patch({ op: "remove", path: "members" }),
        after: { "/Users/{ada}": { groups: undefined } },
      },
    ],
  },
  {
    client: "WSO2",
    title: "adds and replaces by values without a path, nested by extension",
    source: "https://github.com/wso2/product-is/issues/11678",
    requests: [
      given("ada"),
      {
        method: "PATCH",
        path: "/Users/{ada}",
        body: patch(
          { op: "add", path: `${enterprise}:manager.value`, value: "ruth" },
          { op: "replace", value: { name: { givenName: "Ada" } } },
          { op: "replace", value: { name: { familyName: "Lovelace" } } },
          { op: "add", value: { [enterprise]: { department: "Engines" } } },
        ),
        after: {
          "/Users/{ada}": {
            name: { givenName: "Ada", familyName: "Lovelace" },
            [enterprise]: { manager: { value: "ruth" }, department: "Engines" },
          },
        },
      },
    ],
  },
  {
    client: "A script",
    title: "says when passwords were changed, as the directory says it",
    source: "https://learn.microsoft.com/en-us/graph/api/resources/user",
    requests: [
      given("ada"),
      {
        method: "PATCH",
        path: "/Users/{ada}",
        body: patch({ op: "replace", path: `${own}:passwordChangedAt`, value: "2026-11-03T08:15:00Z" }),
        after: {
          [`/Users/{ada}?attributes=${own}:passwordChangedAt`]: {
            [own]: { passwordChangedAt: "2026-11-03T08:15:00.000Z" },
            userName: undefined,
          },
        },
      },
      {
        method: "PATCH",
        path: "/Users/{ada}",
        body: patch({ op: "remove", path: `${own}:passwordChangedAt` }),
        after: { "/Users/{ada}": { [own]: undefined } },
      },
    ],
  },
  {
    client: "A script",
    title: "asks with apostrophes, quotes and backslashes in values",
    source: "https://www.rfc-editor.org/rfc/rfc7644#section-3.4.2.2",
    requests: [
      { ...given("oneil"), body: { schemas: [core], userName: "o'neil@demo.example" } },
      { ...given("quoted"), body: { schemas: [core], userName: 'the "boss"', externalId: "acme\\boss" } },
      {
        method: "GET",
        path: `/Users?filter=${encodeURIComponent(`userName eq "o'neil@demo.example"`)}`,
        reply: { totalResults: 1, Resources: [{ id: "{oneil}" }] },
      },
      {
        method: "GET",
        path: `/Users?filter=${encodeURIComponent(String.raw`userName eq "the \"boss\""`)}`,
        reply: { totalResults: 1, Resources: [{ id: "{quoted}" }] },
      },
      {
        method: "GET",
        path: `/Users?filter=${encodeURIComponent(String.raw`externalId eq "acme\\boss"`)}`,
        reply: { totalResults: 1, Resources: [{ id: "{quoted}" }] },
      },
      {
        method: "GET",
        path: `/Users?filter=${encodeURIComponent(String.raw`externalId eq "acme\boss"`)}`,
        reply: { totalResults: 1, Resources: [{ id: "{quoted}" }] },
      },
      {
        method: "GET",
        path: `/Users?filter=${encodeURIComponent(String.raw`userName eq "o\u0027neil@demo.example"`)}`,
        reply: { totalResults: 1, Resources: [{ id: "{oneil}" }] },
      },
      {
        method: "GET",
        path: `/Users?filter=${encodeURIComponent(`userName Eq "O'Neil@demo.example" AND active EQ true`)}`,
        reply: { totalResults: 1 },
      },
    ],
  },
  {
    client: "A script",
    title: "asks by the beginning and a part of names, for some attributes",
    source: "https://www.rfc-editor.org/rfc/rfc7644#section-3.4.2.5",
    requests: [
      given("ada", { displayName: "Ada Lovelace", title: "Analyst" }),
      given("grace", { displayName: "Grace Hopper" }),
      {
        method: "GET",
        path: "/Users?filter=displayName%20co%20%22love%22&attributes=displayName",
        reply: {
          totalResults: 1,
          Resources: [{ id: "{ada}", displayName: "Ada Lovelace", title: undefined }],
        },
      },
      {
        method: "GET",
        path: "/Users?filter=userName%20sw%20%22gra%22&excludedAttributes=displayName,emails",
        reply: { totalResults: 1, Resources: [{ id: "{grace}", displayName: undefined }] },
      },
      { method: "GET", path: "/Users?count=0", reply: { totalResults: 2, itemsPerPage: 0 } },
      { method: "GET", path: "/Users?count=100000", reply: { totalResults: 2, itemsPerPage: 2 } },
      { method: "GET", path: "/Users?startIndex=0&count=1", reply: { startIndex: 1, itemsPerPage: 1 } },
    ],
  },
  {
    client: "A script",
    title: "sends JSON as application/json, and the scheme of the token in lower case",
    source: "https://www.rfc-editor.org/rfc/rfc7644#section-8.1",
    requests: [
      {
        method: "POST",
        path: "/Users",
        headers: { "content-type": "application/json;charset=UTF-8", authorization: "bearer {token}" },
        as: "ada",
        body: { schemas: [core], userName: "ada@demo.example" },
      },
      {
        method: "GET",
        path: "/Users/{ada}",
        headers: { accept: "*/*" },
        reply: { id: "{ada}", active: true },
      },
    ],
  },
];
