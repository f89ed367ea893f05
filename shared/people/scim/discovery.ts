/** What the service tells of itself (RFC 7644, 4; RFC 7643, 5 to 7). */
import { schemas } from "./names.ts";
import { mostResults } from "./request.ts";

type Body = Record<string, unknown>;

const no = { supported: false };

export const serviceProviderConfig = (url: string): Body => ({
  schemas: ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
  patch: { supported: true },
  bulk: { ...no, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: mostResults },
  changePassword: no,
  sort: no,
  etag: no,
  authenticationSchemes: [
    {
      type: "oauthbearertoken",
      name: "Bearer token",
      description: "The token that the dashboard shows when the directory is connected",
      specUri: "https://www.rfc-editor.org/rfc/rfc6750",
      primary: true,
    },
  ],
  meta: { resourceType: "ServiceProviderConfig", location: `${url}/ServiceProviderConfig` },
});

const resourceType = (url: string, name: "User" | "Group", extensions: readonly string[]): Body => ({
  schemas: ["urn:ietf:params:scim:schemas:core:2.0:ResourceType"],
  id: name,
  name,
  endpoint: `/${name}s`,
  description: name === "User" ? "A person of the directory" : "A group of people",
  schema: name === "User" ? schemas.user : schemas.group,
  ...(extensions.length > 0 && {
    schemaExtensions: extensions.map((schema) => ({ schema, required: false })),
  }),
  meta: { resourceType: "ResourceType", location: `${url}/ResourceTypes/${name}` },
});

export const resourceTypes = (url: string): Body[] => [
  resourceType(url, "User", [schemas.enterprise, schemas.service]),
  resourceType(url, "Group", []),
];

type Attribute = {
  name: string;
  type: "string" | "boolean" | "dateTime" | "complex" | "reference";
  description: string;
  multiValued?: true;
  required?: true;
  caseExact?: true;
  mutability?: "readOnly";
  uniqueness?: "server";
  canonicalValues?: string[];
  referenceTypes?: string[];
  subAttributes?: Attribute[];
};

/** With what RFC 7643, 2.2, has by default. */
const full = ({ subAttributes, ...attribute }: Attribute): Body => ({
  multiValued: false,
  required: false,
  caseExact: false,
  mutability: "readWrite",
  returned: "default",
  uniqueness: "none",
  ...attribute,
  ...(subAttributes && { subAttributes: subAttributes.map(full) }),
});

const text = (name: string, description: string, also: Partial<Attribute> = {}): Attribute => ({
  name,
  type: "string",
  description,
  ...also,
});

const user: Attribute[] = [
  text("userName", "The name of the user, unique in the directory without case", {
    required: true,
    uniqueness: "server",
  }),
  {
    name: "name",
    type: "complex",
    description: "The parts of the person's name",
    subAttributes: [
      text("formatted", "The full name"),
      text("familyName", "The family name"),
      text("givenName", "The given name"),
      text("middleName", "Middle names"),
      text("honorificPrefix", "Titles in front"),
      text("honorificSuffix", "Titles behind"),
    ],
  },
  text("displayName", "The name by which the person is shown"),
  text("title", "The person's position"),
  text("preferredLanguage", "The language of mails to the person, such as en-US"),
  { name: "active", type: "boolean", description: "Whether the person is here; absent means true" },
  {
    name: "emails",
    type: "complex",
    multiValued: true,
    description: "The person's addresses, all of which are watched",
    subAttributes: [
      text("value", "The address"),
      text("display", "How it is shown"),
      text("type", "Such as work", { canonicalValues: ["work", "home", "other"] }),
      { name: "primary", type: "boolean", description: "Whether it is the main one" },
    ],
  },
  {
    name: "groups",
    type: "complex",
    multiValued: true,
    mutability: "readOnly",
    description: "The groups that the person is in",
    subAttributes: [
      text("value", "The id of the group", { mutability: "readOnly" }),
      {
        name: "$ref",
        type: "reference",
        referenceTypes: ["Group"],
        mutability: "readOnly",
        description: "Its url",
      },
      text("display", "Its name", { mutability: "readOnly" }),
      text("type", "Always direct", { mutability: "readOnly", canonicalValues: ["direct"] }),
    ],
  },
];

const group: Attribute[] = [
  text("displayName", "The name of the group, unique in the directory without case", {
    required: true,
    uniqueness: "server",
  }),
  {
    name: "members",
    type: "complex",
    multiValued: true,
    description: "Users of the directory",
    subAttributes: [
      text("value", "The id of the user"),
      { name: "$ref", type: "reference", referenceTypes: ["User"], description: "Its url" },
      text("type", "Always User", { canonicalValues: ["User"] }),
    ],
  },
];

const enterprise: Attribute[] = [
  text("department", "The department, of which a team can be made"),
  text("employeeNumber", "The number of the person in the company"),
  {
    name: "manager",
    type: "complex",
    description: "Whom the person reports to",
    subAttributes: [text("value", "The id of the manager"), text("displayName", "The manager's name")],
  },
];

const service: Attribute[] = [
  {
    name: "passwordChangedAt",
    type: "dateTime",
    description: "When the password was last changed: findings of older leaks of passwords can end by it",
  },
  { name: "privileged", type: "boolean", description: "Whether the account is an administrator's" },
];

const schema = (
  url: string,
  id: string,
  name: string,
  description: string,
  attributes: Attribute[],
): Body => ({
  schemas: ["urn:ietf:params:scim:schemas:core:2.0:Schema"],
  id,
  name,
  description,
  attributes: attributes.map(full),
  meta: { resourceType: "Schema", location: `${url}/Schemas/${id}` },
});

export const schemaList = (url: string): Body[] => [
  schema(url, schemas.user, "User", "A person of the directory", user),
  schema(url, schemas.group, "Group", "A group of people", group),
  schema(url, schemas.enterprise, "EnterpriseUser", "What a company says of a person", enterprise),
  schema(url, schemas.service, "BreachMonitorUser", "What decides whether a leak still matters", service),
];
