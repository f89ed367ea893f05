/** Microsoft Entra ID, without and with its flag `aadOptscim062020`, and the validator of its makers. */
import { core, coreGroup, enterprise, given, givenGroup, own, patch, type Shape } from "./shape.ts";

const documents = "https://learn.microsoft.com/en-us/entra/identity/app-provisioning";
const develop = `${documents}/use-scim-to-provision-users-and-groups`;
const compliance = `${documents}/application-provisioning-config-problem-scim-compatibility`;
const attributes = `${documents}/customize-application-attributes`;

const forEntra = "urn:ietf:params:scim:schemas:extension:BreachMonitor:2.0:User";

export const entra: Shape[] = [
  {
    client: "Entra",
    title: "Test Connection asks for a user and a group of random names",
    source: `${develop}#getting-started`,
    requests: [
      {
        method: "GET",
        path: "/Users?filter=userName+eq+%22b7f4e2c8-2f0d-4a6e-9a51-6f0b6a3de9c1%22",
        reply: { totalResults: 0, Resources: [], startIndex: 1, itemsPerPage: 0 },
      },
      {
        method: "GET",
        path: "/Groups?excludedAttributes=members&filter=displayName+eq+%225c1e6f20-91c4-4f3f-8d5c-0f6d7f1a2b3c%22",
        reply: { totalResults: 0, Resources: [] },
      },
      {
        method: "GET",
        path: "/Schemas",
        reply: { schemas: ["urn:ietf:params:scim:api:messages:2.0:ListResponse"] },
      },
    ],
  },
  {
    client: "Entra",
    title: "creates a user after it looked for one, and reads it",
    source: `${develop}#create-user`,
    requests: [
      {
        method: "GET",
        path: "/Users?filter=userName+eq+%22ada%40demo.example%22",
        reply: { totalResults: 0 },
      },
      {
        method: "POST",
        path: "/Users",
        as: "ada",
        body: {
          schemas: [core, enterprise],
          externalId: "ada.lovelace",
          userName: "ada@demo.example",
          active: true,
          displayName: "Ada Lovelace",
          emails: [{ primary: true, type: "work", value: "Ada.Lovelace@demo.example" }],
          meta: { resourceType: "User" },
          name: { formatted: "Ada Lovelace", familyName: "Lovelace", givenName: "Ada" },
          title: "Analyst",
          preferredLanguage: "en-GB",
          roles: [],
          [enterprise]: { department: "Engines", employeeNumber: "1815", manager: "charles" },
        },
        reply: {
          id: "{ada}",
          externalId: "ada.lovelace",
          active: true,
          emails: [{ primary: true, type: "work", value: "Ada.Lovelace@demo.example" }],
          meta: { resourceType: "User", location: "{base}/Users/{ada}" },
          roles: undefined,
          [enterprise]: { department: "Engines", employeeNumber: "1815", manager: { value: "charles" } },
        },
      },
      { method: "GET", path: "/Users/{ada}", reply: { userName: "ada@demo.example", title: "Analyst" } },
      {
        method: "GET",
        path: "/Users?filter=userName+eq+%22ADA%40demo.example%22",
        reply: { totalResults: 1, Resources: [{ id: "{ada}", displayName: "Ada Lovelace" }] },
      },
      {
        method: "GET",
        path: "/Users?filter=emails%5Btype+eq+%22work%22%5D.value+eq+%22ada.lovelace%40demo.example%22",
        reply: { totalResults: 1, Resources: [{ id: "{ada}" }] },
      },
      {
        method: "GET",
        path: "/Users?filter=emails%5Btype+eq+%22work%22%5D+eq+%22ada.lovelace%40demo.example%22",
        reply: { totalResults: 1 },
      },
    ],
  },
  {
    client: "Entra",
    title: "creates a user with nulls and attributes of an extension beside those of the core",
    source: `${develop}#handling-provisioning-and-deprovisioning-of-users`,
    requests: [
      {
        method: "POST",
        path: "/Users",
        as: "grace",
        body: {
          schemas: [core, "urn:ietf:params:scim:schemas:extension:enterprise:2.0User"],
          externalId: "grace",
          userName: "grace@demo.example",
          active: true,
          addresses: null,
          displayName: "Grace Hopper",
          emails: [{ type: "work", value: "grace@demo.example", primary: true }],
          meta: { resourceType: "User" },
          name: { familyName: "Hopper", givenName: "Grace" },
          phoneNumbers: null,
          preferredLanguage: null,
          title: null,
          department: null,
          manager: null,
        },
        reply: { displayName: "Grace Hopper", title: undefined, preferredLanguage: undefined },
      },
      {
        method: "GET",
        path: "/Users?filter=externalId%20eq%20grace",
        reply: { totalResults: 1, Resources: [{ id: "{grace}" }] },
      },
    ],
  },
  {
    client: "Entra",
    title: "sends an extension's attributes without naming the extension in schemas",
    source: `${attributes}#provisioning-a-custom-extension-attribute-to-a-scim-compliant-application`,
    requests: [
      {
        method: "POST",
        path: "/Users",
        as: "ada",
        body: {
          schemas: [core, enterprise],
          userName: "ada@demo.example",
          [own]: { privileged: "True", passwordChangedAt: "2026-11-03T08:15:00Z" },
        },
        reply: { [own]: { privileged: true } },
      },
      {
        method: "PATCH",
        path: "/Users/{ada}",
        body: patch(
          { op: "Add", path: `${own}:privileged`, value: "False" },
          { op: "Add", path: `${own}:passwordChangedAt`, value: "2026-11-29T20:00:00Z" },
        ),
        after: { "/Users/{ada}": { [own]: { privileged: false } } },
      },
    ],
  },
  {
    client: "Entra",
    title: "names an extension in the form that it asks for",
    source: `${attributes}#provisioning-a-custom-extension-attribute-to-a-scim-compliant-application`,
    requests: [
      given("ada", { [forEntra]: { privileged: true } }),
      { method: "GET", path: "/Users/{ada}", reply: { [own]: { privileged: true }, [forEntra]: undefined } },
      {
        method: "PATCH",
        path: "/Users/{ada}",
        body: patch({ op: "Replace", path: `${forEntra}:privileged`, value: "False" }),
        after: { "/Users/{ada}": { [own]: { privileged: false } } },
      },
    ],
  },
  {
    client: "Entra",
    title: "replaces a work address that is there, and a name in parts",
    source: `${develop}#update-user-multi-valued-properties`,
    requests: [
      given("ada", {
        emails: [{ type: "work", value: "ada@demo.example", primary: true }],
        name: { givenName: "Ada", familyName: "Byron" },
      }),
      {
        method: "PATCH",
        path: "/Users/{ada}",
        body: patch(
          { op: "Replace", path: 'emails[type eq "work"].value', value: "lovelace@demo.example" },
          { op: "Replace", path: "name.familyName", value: "Lovelace" },
        ),
        after: {
          "/Users/{ada}": {
            emails: [{ type: "work", value: "lovelace@demo.example", primary: true }],
            name: { givenName: "Ada", familyName: "Lovelace" },
          },
        },
      },
    ],
  },
  {
    client: "Entra",
    title: "adds a work address by a path with a filter where there is none",
    source: "https://github.com/ssoready/ssoready/pull/249",
    requests: [
      given("ada"),
      {
        method: "PATCH",
        path: "/Users/{ada}",
        body: patch({ op: "Add", path: 'emails[type eq "work"].value', value: "ada.l@demo.example" }),
        after: { "/Users/{ada}": { emails: [{ type: "work", value: "ada.l@demo.example" }] } },
      },
      {
        method: "PATCH",
        path: "/Users/{ada}",
        body: patch({ op: "Replace", path: 'emails[type eq "other"].Value', value: "ada@home.example" }),
        after: {
          "/Users/{ada}": {
            emails: [
              { type: "work", value: "ada.l@demo.example" },
              { type: "other", value: "ada@home.example" },
            ],
          },
        },
      },
    ],
  },
  {
    client: "Entra",
    title: "renames a user, by which the former name is free again",
    source: `${develop}#update-user-single-valued-properties`,
    requests: [
      given("ada"),
      {
        method: "PATCH",
        path: "/Users/{ada}",
        body: patch({ op: "Replace", path: "userName", value: "lovelace@demo.example" }),
        after: {
          "/Users/{ada}": { userName: "lovelace@demo.example" },
          "/Users?filter=userName+eq+%22ada%40demo.example%22": { totalResults: 0 },
          "/Users?filter=userName+eq+%22lovelace%40demo.example%22": { totalResults: 1 },
        },
      },
      { ...given("ada"), as: "other" },
    ],
  },
  {
    client: "Entra",
    title: "disables a user by text, and enables it again",
    source: `${compliance}#flags-to-alter-the-scim-behavior`,
    requests: [
      given("ada"),
      {
        method: "PATCH",
        path: "/Users/{ada}",
        body: patch({ op: "Replace", path: "active", value: "False" }),
        after: { "/Users/{ada}": { active: false } },
      },
      {
        method: "GET",
        path: "/Users?filter=userName+eq+%22ada%40demo.example%22",
        reply: { totalResults: 1, Resources: [{ active: false }] },
      },
      {
        method: "PATCH",
        path: "/Users/{ada}",
        body: patch({ op: "Replace", path: "active", value: "true" }),
        after: { "/Users/{ada}": { active: true } },
      },
    ],
  },
  {
    client: "Entra",
    title: "deletes a user for good",
    source: `${develop}#delete-user`,
    requests: [
      given("ada"),
      { method: "DELETE", path: "/Users/{ada}" },
      { method: "GET", path: "/Users/{ada}", status: 404 },
      { method: "DELETE", path: "/Users/{ada}", status: 404 },
      {
        method: "GET",
        path: "/Users?filter=userName+eq+%22ada%40demo.example%22",
        reply: { totalResults: 0 },
      },
    ],
  },
  {
    client: "Entra",
    title: "sets the manager as text, and takes it away",
    source: "https://github.com/Captain-P-Goldfish/SCIM-SDK/issues/686",
    requests: [
      given("charles"),
      given("ada"),
      {
        method: "PATCH",
        path: "/Users/{ada}",
        body: patch({ op: "Add", path: `${enterprise}:manager`, value: "{charles}" }),
        after: { "/Users/{ada}": { [enterprise]: { manager: { value: "{charles}" } } } },
      },
      {
        method: "GET",
        path: "/Users?filter=id+eq+%22{ada}%22+and+manager+eq+%22{charles}%22&attributes=id",
        reply: { totalResults: 1, Resources: [{ id: "{ada}", userName: undefined }] },
      },
      {
        method: "PATCH",
        path: "/Users/{ada}",
        body: patch({
          op: "Replace",
          path: `${enterprise}:manager`,
          value: { $ref: "../Users/{charles}", value: "{charles}", displayName: "Charles Babbage" },
        }),
        after: {
          "/Users/{ada}": {
            [enterprise]: {
              manager: { value: "{charles}", displayName: "Charles Babbage", $ref: undefined },
            },
          },
        },
      },
      {
        method: "PATCH",
        path: "/Users/{ada}",
        body: patch({ op: "Remove", path: `${enterprise}:manager` }),
        after: { "/Users/{ada}": { [enterprise]: undefined } },
      },
      {
        method: "GET",
        path: "/Users?filter=id+eq+{ada}+and+manager+eq+{charles}&attributes=id",
        reply: { totalResults: 0 },
      },
    ],
  },
  {
    client: "Entra",
    title: "sets the manager as a list of one reference, without the extension's name",
    source: `${develop}#handling-provisioning-and-deprovisioning-of-users`,
    requests: [
      given("charles"),
      given("ada"),
      {
        method: "PATCH",
        path: "/Users/{ada}",
        body: patch({
          op: "Add",
          path: "manager",
          value: [{ $ref: "{base}/Users/{charles}", value: "{charles}" }],
        }),
        after: { "/Users/{ada}": { [enterprise]: { manager: { value: "{charles}" } } } },
      },
    ],
  },
  {
    client: "Entra",
    title: "replaces six attributes by one operation each",
    source: `${compliance}#flags-to-alter-the-scim-behavior`,
    requests: [
      given("ada", { displayName: "A", [enterprise]: { employeeNumber: "1" } }),
      {
        method: "PATCH",
        path: "/Users/{ada}",
        body: patch(
          { op: "Replace", path: "displayName", value: "Ada Lovelace" },
          { op: "Replace", path: 'emails[type eq "work"].value', value: "ada@demo.example" },
          { op: "Replace", path: "name.givenName", value: "Ada" },
          { op: "Replace", path: "name.familyName", value: "Lovelace" },
          { op: "Replace", path: "externalId", value: "al" },
          { op: "Replace", path: `${enterprise}:employeeNumber`, value: "1815" },
        ),
        after: {
          "/Users/{ada}": {
            displayName: "Ada Lovelace",
            name: { givenName: "Ada", familyName: "Lovelace" },
            externalId: "al",
            [enterprise]: { employeeNumber: "1815" },
          },
        },
      },
    ],
  },
  {
    client: "Entra with aadOptscim062020",
    title: "replaces several attributes by one value with dotted names and those of extensions",
    source: `${compliance}#flags-to-alter-the-scim-behavior`,
    requests: [
      given("ada", { emails: [{ type: "work", value: "ada@demo.example" }] }),
      {
        method: "PATCH",
        path: "/Users/{ada}",
        body: patch(
          { op: "replace", path: 'emails[type eq "work"].value', value: "al@demo.example" },
          {
            op: "replace",
            value: {
              displayName: "Ada Lovelace",
              "name.givenName": "Ada",
              "name.familyName": "Lovelace",
              [`${enterprise}:employeeNumber`]: "1815",
              [`${enterprise}:department`]: "Engines",
              [`${own}:privileged`]: true,
            },
          },
        ),
        after: {
          "/Users/{ada}": {
            displayName: "Ada Lovelace",
            emails: [{ type: "work", value: "al@demo.example" }],
            name: { givenName: "Ada", familyName: "Lovelace" },
            [enterprise]: { employeeNumber: "1815", department: "Engines" },
            [own]: { privileged: true },
          },
        },
      },
      {
        method: "PATCH",
        path: "/Users/{ada}",
        body: patch({ op: "replace", path: "active", value: false }),
        after: { "/Users/{ada}": { active: false, displayName: "Ada Lovelace" } },
      },
    ],
  },
  {
    client: "Entra with aadOptscim062020",
    title: "may send its flag with each request",
    source: "https://docs.datadoghq.com/account_management/scim/azure/",
    requests: [
      given("ada"),
      {
        method: "GET",
        path: "/Users?aadOptscim062020=&filter=userName+eq+%22ada%40demo.example%22",
        reply: { totalResults: 1 },
      },
      {
        method: "PATCH",
        path: "/Users/{ada}?aadOptscim062020",
        body: patch({ op: "replace", path: "active", value: false }),
        after: { "/Users/{ada}": { active: false } },
      },
    ],
  },
  {
    client: "Entra with aadOptscim062020",
    title: "removes a member by a path with a filter",
    source: `${compliance}#flags-to-alter-the-scim-behavior`,
    requests: [
      given("ada"),
      given("grace"),
      givenGroup("engines", { members: [{ value: "{ada}" }, { value: "{grace}" }] }),
      {
        method: "PATCH",
        path: "/Groups/{engines}",
        body: patch({ op: "remove", path: 'members[value eq "{ada}"]' }),
        after: {
          "/Groups/{engines}": { members: [{ value: "{grace}" }] },
          "/Users/{ada}": { groups: undefined },
        },
      },
    ],
  },
  {
    client: "Entra",
    title: "pushes a group, its members one by one, and takes one away by a value",
    source: `${develop}#group-operations`,
    requests: [
      given("ada"),
      given("grace"),
      {
        method: "POST",
        path: "/Groups",
        as: "engines",
        body: {
          schemas: [coreGroup, "http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group"],
          externalId: "8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159",
          displayName: "Engines",
          meta: { resourceType: "Group" },
        },
        reply: { displayName: "Engines", externalId: "8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159" },
      },
      {
        method: "GET",
        path: "/Groups/{engines}?excludedAttributes=members",
        reply: { id: "{engines}", displayName: "Engines", members: undefined },
      },
      {
        method: "PATCH",
        path: "/Groups/{engines}",
        body: patch({ op: "Add", path: "members", value: [{ $ref: null, value: "{ada}" }] }),
      },
      {
        method: "PATCH",
        path: "/Groups/{engines}",
        body: patch({ op: "Add", path: "members", value: [{ $ref: null, value: "{grace}" }] }),
        after: {
          "/Users/{grace}": { groups: [{ value: "{engines}", display: "Engines" }] },
          "/Groups?filter=id+eq+%22{engines}%22+and+members+eq+%22{ada}%22&attributes=id": {
            totalResults: 1,
            Resources: [{ id: "{engines}", displayName: undefined, members: undefined }],
          },
        },
      },
      {
        method: "PATCH",
        path: "/Groups/{engines}",
        body: patch({ op: "Remove", path: "members", value: [{ $ref: null, value: "{ada}" }] }),
        after: { "/Groups/{engines}": { members: [{ value: "{grace}" }] } },
      },
      {
        method: "PATCH",
        path: "/Groups/{engines}",
        body: patch({ op: "Replace", path: "displayName", value: "Difference Engines" }),
        after: { "/Users/{grace}": { groups: [{ display: "Difference Engines" }] } },
      },
      { method: "DELETE", path: "/Groups/{engines}" },
      { method: "GET", path: "/Users/{grace}", reply: { groups: undefined } },
    ],
  },
  {
    client: "Entra",
    title: "sends attributes that nobody keeps: a role, an address, a telephone",
    source: `${attributes}#provisioning-a-role-to-a-scim-app`,
    requests: [
      given("ada", { displayName: "Ada" }),
      {
        method: "PATCH",
        path: "/Users/{ada}",
        body: patch(
          { op: "Add", path: 'roles[primary eq "True"].value', value: "Admin" },
          { op: "Add", path: 'addresses[type eq "work"].country', value: "GB" },
          { op: "Replace", path: 'phoneNumbers[type eq "mobile"].value', value: "+44 20 7946 0000" },
          { op: "Add", path: "roles", value: [{ value: '{"id":"06b0","value":"25","displayName":"Role"}' }] },
          { op: "Add", path: "nickName", value: "Countess" },
          { op: "Replace", path: "displayName", value: "Ada Lovelace" },
        ),
        after: {
          "/Users/{ada}": {
            displayName: "Ada Lovelace",
            roles: undefined,
            addresses: undefined,
            phoneNumbers: undefined,
            nickName: undefined,
          },
        },
      },
    ],
  },
  {
    client: "Entra",
    title: "names attributes of the core with their schema",
    source: "https://github.com/zulip/zulip/issues/39773",
    requests: [
      given("ada"),
      {
        method: "PATCH",
        path: "/Users/{ada}",
        body: patch(
          { op: "Add", path: `${core}:title`, value: "Analyst" },
          { op: "Add", path: `${core}:name.givenName`, value: "Ada" },
          { op: "Add", path: `${core}:role`, value: "Member" },
        ),
        after: { "/Users/{ada}": { title: "Analyst", name: { givenName: "Ada" } } },
      },
    ],
  },
  {
    client: "Validator of Entra",
    title: "posts a truth as text, and adds a member with a name for the eye",
    source: "https://github.com/AzureAD/SCIMReferenceCode/issues/20",
    requests: [
      {
        method: "POST",
        path: "/Users",
        as: "ada",
        body: { UserName: "ada@demo.example", active: "True", DisplayName: "Ada" },
        reply: { userName: "ada@demo.example", active: true, displayName: "Ada" },
      },
      givenGroup("engines"),
      {
        method: "PATCH",
        path: "/Groups/{engines}",
        body: patch({
          name: "addMember",
          op: "add",
          path: "members",
          value: [{ displayName: "new User", value: "{ada}" }],
        }),
        after: { "/Groups/{engines}": { members: [{ value: "{ada}" }] } },
      },
      {
        method: "PATCH",
        path: "/Groups/{engines}",
        body: patch({ op: "add", path: "members", value: [{ value: "{ada}" }] }),
        after: { "/Groups/{engines}": { members: [{ value: "{ada}" }] } },
      },
    ],
  },
  {
    client: "Validator of Entra",
    title: "removes what is not required, and what is not there",
    source: `${documents}/scim-validator-tutorial#known-issues-with-microsoft-entra-scim-validator`,
    requests: [
      given("ada", {
        title: "Analyst",
        emails: [{ type: "work", value: "ada@demo.example" }],
        [enterprise]: { department: "Engines" },
        [own]: { privileged: true },
      }),
      {
        method: "PATCH",
        path: "/Users/{ada}",
        body: patch(
          { op: "remove", path: "title" },
          { op: "remove", path: 'emails[type eq "work"].value' },
          { op: "remove", path: `${enterprise}:department` },
          { op: "remove", path: "displayName" },
          { op: "remove", path: own },
          { op: "remove", path: 'phoneNumbers[type eq "fax"].value' },
        ),
        after: {
          "/Users/{ada}": { title: undefined, emails: undefined, [enterprise]: undefined, [own]: undefined },
        },
      },
    ],
  },
];
