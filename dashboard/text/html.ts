/**
 * Descriptions of breaches are HTML by somebody else. This makes plain text of it without a parser of the
 * browser: those take trusted HTML only, and this is not.
 */

const entities: Record<string, string> = {
  amp: "&",
  apos: "'",
  bull: "•",
  copy: "©",
  eacute: "é",
  euro: "€",
  gt: ">",
  hellip: "…",
  ldquo: "“",
  lsquo: "‘",
  lt: "<",
  mdash: "—",
  nbsp: " ",
  ndash: "–",
  pound: "£",
  quot: '"',
  rdquo: "”",
  reg: "®",
  rsquo: "’",
  trade: "™",
};

/** Elements whose content is not text for people. */
const hidden = new Set(["script", "style", "template", "textarea", "title"]);
const breaking = new Set(["blockquote", "br", "div", "h1", "h2", "h3", "li", "ol", "p", "tr", "ul"]);

/** The text of HTML, with entities decoded and paragraphs as line breaks. The result must be shown as text, too. */
export function textOfHtml(html: string): string {
  return decode(withoutTags(html))
    .replace(/[^\S\n]+/g, " ")
    .replace(/ ?\n[ \n]*/g, "\n")
    .trim();
}

/** One pass from the beginning to the end, so that no input takes long. What is left open ends with the text. */
function withoutTags(html: string): string {
  let text = "";
  let at = 0;
  while (at < html.length) {
    const next = html.indexOf("<", at);
    if (next === -1) return text + html.slice(at);
    text += html.slice(at, next);
    if (html.startsWith("<!--", next)) {
      at = after(html, "-->", next + 4);
    } else if (/[!?]/.test(html[next + 1] ?? "")) {
      at = after(html, ">", next);
    } else {
      const [, slash, name = ""] = /^<(\/?)([a-z][a-z\d]{0,20})/i.exec(html.slice(next, next + 24)) ?? [];
      if (name === "") {
        // As in "3 < 4".
        text += "<";
        at = next + 1;
        continue;
      }
      const kind = name.toLowerCase();
      at = endOfTag(html, next);
      if (breaking.has(kind)) text += "\n";
      if (slash === "" && hidden.has(kind)) {
        text += " ";
        const end = new RegExp(`</${kind}`, "gi");
        end.lastIndex = at;
        at = end.exec(html)?.index ?? html.length;
      }
    }
  }
  return text;
}

function after(html: string, mark: string, from: number): number {
  const start = html.indexOf(mark, from);
  return start === -1 ? html.length : start + mark.length;
}

/** Behind the `>` of the tag that begins here; one in a quoted value is not its end. */
function endOfTag(html: string, from: number): number {
  let quote = "";
  for (let at = from; at < html.length; at += 1) {
    const character = html[at] ?? "";
    if (quote !== "") {
      if (character === quote) quote = "";
    } else if (character === '"' || character === "'") {
      quote = character;
    } else if (character === ">") {
      return at + 1;
    }
  }
  return html.length;
}

function decode(text: string): string {
  return text.replace(/&(?:#x([\da-f]{1,6})|#(\d{1,7})|([a-z]+));/gi, (entity, hex, decimal, name) => {
    if (name !== undefined) return entities[name] ?? entities[String(name).toLowerCase()] ?? entity;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    const isCharacter = code > 0x1f && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : " ";
  });
}
