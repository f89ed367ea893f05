/** The files of the dashboard's page, as the bundle of the function has them. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";

export type PageFile = {
  contentType: string;
  text: string;
  /** Weak, because API Gateway compresses the text for those who take that. */
  etag: string;
  /** Its name changes with its content. */
  isHashed: boolean;
};

/** By path below the page's base, such as "assets/main-ABCDEFGH.js". */
export type PageFiles = ReadonlyMap<string, PageFile>;

/** All of them are text: binary files would need another way through API Gateway. */
const contentTypes: Record<string, string> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
};

/** Reads all files below a directory. Throws for one of a type that cannot be served. */
export function readPageFiles(directory: string): PageFiles {
  const paths = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return new Map(paths.map((path) => [relative(directory, path).split(sep).join("/"), readPageFile(path)]));
}

function readPageFile(path: string): PageFile {
  const contentType = contentTypes[extname(path)];
  if (contentType === undefined) throw new Error(`${path} is of no type that the page can have`);
  const text = readFileSync(path, "utf8");
  const hash = createHash("sha256").update(text).digest("base64url").slice(0, 22);
  return { contentType, text, etag: `W/"${hash}"`, isHashed: path.includes(`${sep}assets${sep}`) };
}
