/**
 * Translators of browsers put elements of their own in the place of a page's text nodes. Preact would go on changing the nodes that are
 * gone, and numbers would stay as they were. So Preact gets no text nodes to keep: a text is a property of its element, which replaces
 * whatever is there.
 */
import { type ComponentChild, createElement, Fragment, options } from "preact";

/** Marks a name within a text, by the characters that Unicode has for that (UAX #9). Nobody translates it, and it has its own direction. */
export const isolated = (name: string): string => `\u2068${name}\u2069`;

/** Elements for what others have named, and for what machines read. */
const untranslated = new Set<unknown>(["bdi", "code", "kbd"]);

type Properties = { children?: ComponentChild | ComponentChild[]; textContent?: string; translate?: boolean };

export function withstandTranslators(): void {
  const next = options.vnode;
  options.vnode = (vnode) => {
    next?.(vnode);
    const properties = vnode.props as Properties;
    const isElement = typeof vnode.type === "string";
    if (!isElement && vnode.type !== Fragment) return;
    if (untranslated.has(vnode.type)) properties.translate = false;
    const { children } = properties;
    if (isNothing(children)) return;
    const all = Array.isArray(children) ? children : [children];
    const text = isElement ? textOf(all) : undefined;
    if (text === undefined) properties.children = inElements(all);
    else {
      properties.textContent = text;
      delete properties.children;
    }
  };
}

const isNothing = (child: unknown): boolean => child == null || typeof child === "boolean";
const isText = (child: unknown): boolean => typeof child === "string" || typeof child === "number";

/** What all of these are together, if it is text without names in it. */
function textOf(all: readonly ComponentChild[]): string | undefined {
  if (!all.every((child) => isText(child) || isNothing(child))) return undefined;
  const text = all.filter(isText).join("");
  return text.includes("\u2068") ? undefined : text;
}

/** The same with each run of texts in an element, which has the place of the first of them. */
function inElements(all: readonly ComponentChild[]): ComponentChild[] {
  const placed: ComponentChild[] = [...all];
  let run: { at: number; text: string } | undefined;
  for (const [index, child] of all.entries()) {
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
