/**
 * Translators of browsers put elements of their own in the place of a page's text nodes. Preact would go on
 * changing the nodes that are gone, and numbers would stay as they were. So Preact gets no text nodes to
 * keep: a text is a property of its element, which replaces whatever is there.
 */
import { type ComponentChild, createElement, Fragment, options } from "preact";

/**
 * Marks a name within a text, by the characters that Unicode has for that (UAX #9). Nobody translates it, and
 * it has its own direction.
 */
export const isolated = (name: string): string => `\u2068${name}\u2069`;

/** Elements for what others have named, and for what machines read. */
const untranslated = new Set<unknown>(["bdi", "code", "kbd"]);

type Properties = { children?: ComponentChild | ComponentChild[]; textContent?: string; translate?: boolean };

export function withstandTranslators(): void {
  const next = options.vnode;
  options.vnode = (vnode) => {
    next?.(vnode);
    const { type } = vnode;
    const isElement = typeof type === "string";
    if (!isElement && type !== Fragment) return;
    const properties = vnode.props as Properties;
    if (untranslated.has(type)) properties.translate = false;
    const { children } = properties;
    const text = isElement ? textOf(children) : undefined;
    if (text !== undefined) {
      properties.textContent = text;
      properties.children = undefined;
    } else if (Array.isArray(children)) properties.children = inElements(children);
    else if (isText(children)) properties.children = elementsOf(String(children));
  };
}

const isNothing = (child: unknown): boolean => child == null || typeof child === "boolean";
const isText = (child: unknown): boolean => typeof child === "string" || typeof child === "number";

/** The text that this is, or all of these together, if it has no names in it. */
function textOf(children: Properties["children"]): string | undefined {
  if (Array.isArray(children)) {
    if (!children.every((child) => isText(child) || isNothing(child))) return undefined;
  } else if (!isText(children)) return undefined;
  const text = Array.isArray(children) ? children.filter(isText).join("") : String(children);
  return text.includes("\u2068") ? undefined : text;
}

/** The same with each run of texts in an element, which has the place of the first of them. */
function inElements(all: readonly ComponentChild[]): ComponentChild[] {
  const placed = [...all];
  let run: { at: number; text: string } | undefined;
  for (let index = 0; index < all.length; index += 1) {
    const child = all[index];
    if (isNothing(child)) continue;
    if (isText(child)) {
      run ??= { at: index, text: "" };
      run.text += child;
      placed[index] = null;
      placed[run.at] = elementsOf(run.text);
    } else {
      run = undefined;
      if (Array.isArray(child)) placed[index] = inElements(child);
    }
  }
  return placed;
}

/** A text as an element, and each name in it as one. */
function elementsOf(text: string): ComponentChild {
  // Nobody translates a space, and in a row of boxes it must not be one.
  if (text.trim() === "") return text;
  const parts = text.split(/\u2068([^\u2069]*)\u2069/);
  const elements = parts.map((part, index) =>
    createElement(index % 2 === 1 ? "bdi" : "span", { textContent: part } as object),
  );
  return elements.length === 1 ? elements[0] : elements;
}
