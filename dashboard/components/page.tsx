import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { moves } from "../router.ts";

type PageProps = {
  title: string;
  about?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
};

/** A page with its heading, which takes the focus when people come from another page. */
export function Page({ title, about, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Breach Monitor`;
  }, [title]);
  // This runs before the first paint. Afterwards people may have put the focus elsewhere.
  useLayoutEffect(() => {
    // The key that searches leads to another page and to its search at once: the search keeps the focus.
    const isTyping = document.activeElement instanceof HTMLInputElement;
    if (moves.peek() > 0 && !isTyping) heading.current?.focus({ preventScroll: true });
  }, []);
  useKeptFocus(heading);
  return (
    <>
      <div class="page-head">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {about !== undefined && <p class="muted">{about}</p>}
        {actions !== undefined && <div class="actions">{actions}</div>}
      </div>
      {children}
    </>
  );
}

/** Gives the heading the focus when the focused element disappears, such as a removed row. */
function useKeptFocus(heading: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    let focused: EventTarget | null = null;
    const keepFocused = ({ target }: FocusEvent): void => {
      focused = target;
    };
    const observer = new MutationObserver(() => {
      const isGone = focused instanceof Element && !focused.isConnected;
      if (isGone && document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
    });
    addEventListener("focusin", keepFocused);
    observer.observe(document.body, { childList: true, subtree: true });
    return () => {
      removeEventListener("focusin", keepFocused);
      observer.disconnect();
    };
  }, []);
}
