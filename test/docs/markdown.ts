/** Reads what the documents of this repository name: headings, links, code spans and code blocks. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const project = join(import.meta.dirname, "..", "..");

export type Link = { label: string; target: string; line: number };
export type Span = { text: string; line: number };
/**
 * An identifier in backticks that labels a link, or that stands right in front of a link with another label.
 */
export type NamedLink = { identifier: string; target: string; line: number };

export type Document = {
  /** Relative to the project. */
  path: string;
  /** The anchors of its headings, as GitHub makes them. */
  anchors: ReadonlySet<string>;
  links: Link[];
  /** Outside of code blocks. */
  spans: Span[];
  namedLinks: NamedLink[];
  /** The lines of Mermaid diagrams. */
  diagram: Span[];
};

/** Every document. */
export const documents = (): Document[] =>
  globSync("**/*.md", {
    cwd: project,
    exclude: (path) => /(^|\/)(node_modules|cdk\.out|\.[^/]+)$/.test(path),
  })
    .sort()
    .map((path) => parse(path, readFileSync(join(project, path), "utf8")));

const linkPattern = /(?<!!)\[((?:`[^`]*`|[^\]`])*)\]\(([^()\s]+)\)/g;
const spanPattern = /`([^`]+)`/g;
const identifierPattern = /^[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*$/;
/** `name` (file), `name` in file, `name` of file, `name`, file. */
const namedBefore = /`([^`]+)`(?: in| of|,)? \(?$/;

const parse = (path: string, text: string): Document => {
  const document = {
    path,
    anchors: new Set<string>(),
    links: [] as Link[],
    spans: [] as Span[],
    namedLinks: [] as NamedLink[],
    diagram: [] as Span[],
  };
  let fence: string | undefined;
  for (const [index, content] of text.split("\n").entries()) {
    const line = index + 1;
    const [, fenceLanguage] = /^\s*```(\w*)/.exec(content) ?? [];
    if (fenceLanguage !== undefined) {
      fence = fence === undefined ? fenceLanguage : undefined;
      continue;
    }
    if (fence !== undefined) {
      if (fence === "mermaid") document.diagram.push({ text: content, line });
      continue;
    }
    const [, heading] = /^#{1,6} (.*)$/.exec(content) ?? [];
    if (heading !== undefined) document.anchors.add(anchorOf(heading, document.anchors));
    for (const [, span = ""] of content.matchAll(spanPattern)) document.spans.push({ text: span, line });
    for (const { 1: label = "", 2: target = "", index: at } of content.matchAll(linkPattern)) {
      document.links.push({ label, target, line });
      const inLabel = [...label.matchAll(spanPattern)].map(([, span = ""]) => span);
      const [, before] = namedBefore.exec(content.slice(0, at)) ?? [];
      const named = inLabel.length > 0 ? inLabel : before === undefined ? [] : [before];
      for (const identifier of named.filter((name) => identifierPattern.test(name))) {
        // The file's own name as a label.
        if (target.endsWith(`/${identifier}`)) continue;
        document.namedLinks.push({ identifier, target, line });
      }
    }
  }
  return document;
};

/** GitHub's anchor of a heading: a second heading of the same words gets a number. */
const anchorOf = (heading: string, taken: ReadonlySet<string>): string => {
  const plain = heading
    .replace(linkPattern, "$1")
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number}\p{Mark}_ -]/gu, "")
    .replaceAll(" ", "-");
  let anchor = plain;
  for (let count = 1; taken.has(anchor); count++) anchor = `${plain}-${count}`;
  return anchor;
};
