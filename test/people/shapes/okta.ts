/** Okta: integrations of its network use PATCH, those of the wizard PUT. */
import { core, coreGroup, enterprise, given, givenGroup, own, patch, type Shape } from "./shape.ts";

const protocol = "https://developer.okta.com/docs/api/openapi/okta-scim/guides/scim-20";
const list = "urn:ietf:params:scim:api:messages:2.0:ListResponse";

export const okta: Shape[] = [
  {
    client: "Okta",
    title: "looks for a user by name, with the page that it wants",
    source: `${protocol}#determine-if-the-user-already-exists`,
    requests: [
      {
        method: "GET",
        path: "/Users?filter=userName%20eq%20%22ada%40demo.example%22&startIndex=1&count=100",
        headers: { accept: "application/scim+json", "user-agent": "Okta SCIM Client 1.0.0" },
        reply: { schemas: [list], totalResults: 0, startIndex: 1, itemsPerPage: 0, Resources: [] },
      },
      given("ada"),
      {
        method: "GET",
        path: "/Users?filter=userName%20eq%20%22ada%40demo.example%22&startIndex=1&count=100",
        reply: { totalResults: 1, startIndex: 1, itemsPerPage: 1, Resources: [{ id: "{ada}" }] },
      },
    ],
  },
  {
    client: "Okta",
    title: "creates a user with groups and a password, which nobody keeps",
    source: `${protocol}#create-the-user`,
    requests: [
      {
        method: "POST",
        path: "/Users",
        headers: { "content-type": "application/scim+json; charset=utf-8" },
        as: "ada",
        body: {
          schemas: [core],
          userName: "ada@demo.example",
          name: { givenName: "Ada", familyName: "Lovelace" },
          emails: [{ primary: true, value: "ada@demo.example", type: "work" }],
          displayName: "Ada Lovelace",
          locale: "en-US",
          externalId: "00ujl29u0le5T6Aj10h7",
          groups: [],
          password: "1mz050nq-not-kept",
          active: true,
        },
        reply: {
          id: "{ada}",
          externalId: "00ujl29u0le5T6Aj10h7",
          password: undefined,
          locale: undefined,
          active: true,
        },
        after: { "/Users/{ada}": { displayName: "Ada Lovelace", password: undefined } },
      },
      {
        method: "POST",
        path: "/Users",
        body: { schemas: [core], userName: "ada@demo.example", active: true },
        status: 409,
        scimType: "uniqueness",
      },
    ],
  },
  {
    client: "Okta, by its wizard",
    title: "puts the whole user with what it read: id, groups, meta",
    source: `${protocol}#update-a-specific-user-put`,
    requests: [
      given("ada", { displayName: "Ada", title: "Analyst", name: { givenName: "Ada" } }),
      givenGroup("engines", { members: [{ value: "{ada}" }] }),
      {
        method: "PUT",
        path: "/Users/{ada}",
        headers: { "content-type": "application/json" },
        body: {
          schemas: [core],
          id: "{ada}",
          userName: "ada@demo.example",
          name: { givenName: "Augusta Ada", middleName: "", familyName: "King" },
          emails: [{ primary: true, value: "ada@demo.example", type: "work", display: "ada@demo.example" }],
          active: true,
          groups: [{ value: "somewhere", display: "Else" }],
          meta: { resourceType: "User", created: "2001-01-01T00:00:00Z" },
          password: "another-not-kept",
        },
        reply: {
          id: "{ada}",
          name: { givenName: "Augusta Ada", familyName: "King" },
          title: undefined,
          displayName: undefined,
          password: undefined,
          groups: [{ value: "{engines}", display: "engines" }],
        },
      },
    ],
  },
  {
    client: "Okta, by its wizard",
    title: "disables a user by PUT, and enables it",
    source: `${protocol}#delete-users`,
    requests: [
      given("ada"),
      {
        method: "PUT",
        path: "/Users/{ada}",
        body: { schemas: [core], id: "{ada}", userName: "ada@demo.example", active: false, groups: [] },
        reply: { active: false },
      },
      {
        method: "PUT",
        path: "/Users/{ada}",
        body: { schemas: [core], id: "{ada}", userName: "ada@demo.example", groups: [] },
        reply: { active: true },
      },
    ],
  },
  {
    client: "Okta",
    title: "disables a user by PATCH without a path",
    source: `${protocol}#update-a-specific-user-patch`,
    requests: [
      given("ada", { title: "Analyst" }),
      {
        method: "PATCH",
        path: "/Users/{ada}",
        body: patch({ op: "replace", value: { active: false } }),
        after: { "/Users/{ada}": { active: false, title: "Analyst" } },
      },
      {
        method: "PATCH",
        path: "/Users/{ada}",
        body: patch({ op: "replace", value: { password: "synced-not-kept" } }),
        after: { "/Users/{ada}": { active: false, password: undefined } },
      },
    ],
  },
  {
    client: "Okta",
    title: "puts attributes of extensions, one of them its customer's",
    source:
      "https://support.okta.com/help/s/article/custom-scim-attribute-is-not-available-to-map-and-is-not-sent-to-scim",
    requests: [
      given("ada"),
      {
        method: "PUT",
        path: "/Users/{ada}",
        body: {
          schemas: [core, enterprise, own, "urn:okta:acme:1.0:user:custom"],
          id: "{ada}",
          userName: "ada@demo.example",
          active: true,
          [enterprise]: {
            department: "Engines",
            manager: { value: "charles", displayName: "Charles Babbage" },
          },
          [own]: { privileged: true },
          "urn:okta:acme:1.0:user:custom": { shoeSize: 38 },
        },
        reply: {
          [enterprise]: { department: "Engines", manager: { value: "charles" } },
          [own]: { privileged: true },
          "urn:okta:acme:1.0:user:custom": undefined,
        },
      },
    ],
  },
  {
    client: "Okta",
    title: "imports users page by page",
    source: `${protocol}#retrieve-users`,
    requests: [
      given("ada"),
      given("grace"),
      given("mary"),
      {
        method: "GET",
        path: "/Users?startIndex=1&count=2",
        reply: { totalResults: 3, startIndex: 1, itemsPerPage: 2 },
      },
      {
        method: "GET",
        path: "/Users?startIndex=3&count=2",
        reply: { totalResults: 3, startIndex: 3, itemsPerPage: 1 },
      },
      { method: "GET", path: "/Users?startIndex=1&count=100", reply: { totalResults: 3, itemsPerPage: 3 } },
    ],
  },
  {
    client: "Okta",
    title: "pushes a group with the members that it has",
    source: `${protocol}#create-groups`,
    requests: [
      given("ada"),
      given("grace"),
      {
        method: "GET",
        path: "/Groups?filter=displayName%20eq%20%22Engines%22&startIndex=1&count=100",
        reply: { totalResults: 0 },
      },
      {
        method: "POST",
        path: "/Groups",
        as: "engines",
        body: {
          schemas: [coreGroup],
          displayName: "Engines",
          members: [
            { value: "{ada}", display: "ada@demo.example" },
            { value: "{grace}", display: "grace@demo.example" },
          ],
        },
        reply: { displayName: "Engines" },
        after: {
          "/Users/{ada}": { groups: [{ value: "{engines}" }] },
          "/Users/{grace}": { groups: [{ value: "{engines}" }] },
        },
      },
    ],
  },
  {
    client: "Okta",
    title: "renames a group by a value that repeats the id",
    source: "https://github.com/Metatavu/keycloak-scim-server/pull/113",
    requests: [
      given("ada"),
      givenGroup("engines", { members: [{ value: "{ada}" }] }),
      {
        method: "PATCH",
        path: "/Groups/{engines}",
        body: patch({ op: "replace", value: { id: "{engines}", displayName: "Difference Engines" } }),
        after: {
          "/Groups/{engines}": { displayName: "Difference Engines", members: [{ value: "{ada}" }] },
          "/Groups?filter=displayName%20eq%20%22difference%20engines%22": { totalResults: 1 },
        },
      },
    ],
  },
  {
    client: "Okta",
    title: "changes members: one goes and one comes in a request, then all anew",
    source: `${protocol}#update-specific-group-membership`,
    requests: [
      given("ada"),
      given("grace"),
      given("mary"),
      givenGroup("engines", { members: [{ value: "{ada}" }] }),
      {
        method: "PATCH",
        path: "/Groups/{engines}",
        body: patch(
          { op: "remove", path: 'members[value eq "{ada}"]' },
          { op: "add", path: "members", value: [{ value: "{grace}", display: "grace@demo.example" }] },
        ),
        after: { "/Groups/{engines}": { members: [{ value: "{grace}" }] } },
      },
      {
        method: "PATCH",
        path: "/Groups/{engines}",
        body: patch({
          op: "replace",
          path: "members",
          value: [
            { value: "{ada}", display: "ada@demo.example" },
            { value: "{mary}", display: "mary@demo.example" },
          ],
        }),
        after: {
          "/Users/{ada}": { groups: [{ value: "{engines}" }] },
          "/Users/{grace}": { groups: undefined },
          "/Users/{mary}": { groups: [{ value: "{engines}" }] },
        },
      },
      {
        method: "PATCH",
        path: "/Groups/{engines}",
        body: patch({ op: "replace", path: "members", value: [] }),
        after: { "/Users/{ada}": { groups: undefined }, "/Users/{mary}": { groups: undefined } },
      },
    ],
  },
  {
    client: "Okta, by its wizard",
    title: "puts a group with its members, and deletes it",
    source: "https://github.com/okta/okta-developer-docs/pull/3853",
    requests: [
      given("ada"),
      given("grace"),
      givenGroup("engines", { members: [{ value: "{ada}" }] }),
      {
        method: "PUT",
        path: "/Groups/{engines}",
        body: {
          schemas: [coreGroup],
          id: "{engines}",
          displayName: "Engines 2",
          members: [{ value: "{grace}", display: "grace@demo.example" }],
        },
        reply: { displayName: "Engines 2" },
        after: {
          "/Users/{ada}": { groups: undefined },
          "/Users/{grace}": { groups: [{ display: "Engines 2" }] },
        },
      },
      { method: "DELETE", path: "/Groups/{engines}" },
      { method: "GET", path: "/Groups/{engines}", status: 404 },
      { method: "GET", path: "/Users/{grace}", reply: { active: true, groups: undefined } },
    ],
  },
  {
    client: "Okta's tests of the specification",
    title: "ask for a page, a user of it, and users and ids that are not there",
    source: "https://developer.okta.com/docs/guides/scim-provisioning-integration-test/main/",
    requests: [
      given("ada", {
        name: { givenName: "Ada", familyName: "Lovelace" },
        emails: [{ value: "ada@demo.example" }],
      }),
      {
        method: "GET",
        path: "/Users?count=1&startIndex=1",
        reply: {
          schemas: [list],
          itemsPerPage: 1,
          startIndex: 1,
          Resources: [
            {
              id: "{ada}",
              name: { familyName: "Lovelace" },
              active: true,
              emails: [{ value: "ada@demo.example" }],
            },
          ],
        },
      },
      { method: "GET", path: "/Users/{ada}", reply: { userName: "ada@demo.example" } },
      {
        method: "GET",
        path: '/Users?filter=userName eq "abcdefgh@atko.com"'.replaceAll(" ", "%20").replaceAll('"', "%22"),
        reply: { schemas: [list], totalResults: 0 },
      },
      {
        method: "GET",
        path: "/Users/010101001010101011001010101011",
        status: 404,
        reply: { schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"], status: "404" },
      },
      { method: "GET", path: "/Groups", reply: { schemas: [list], totalResults: 0 } },
    ],
  },
];
