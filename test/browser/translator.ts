/**
 * A script that does to a page what translators of browsers do. Two elements of the translator take the place
 * of each text node, also of later ones. What carries `translate="no"` stays. Translated texts end with "*".
 */
export const translator = `
  const isKept = (node) => node.parentElement?.closest("[translate]")?.getAttribute("translate") === "no";
  const translate = (node) => {
    if (node.data.trim() === "" || isKept(node) || node.parentElement?.closest("font, script, style") !== null) return;
    const [outer, inner] = [document.createElement("font"), document.createElement("font")];
    inner.textContent = node.data + "*";
    outer.append(inner);
    node.replaceWith(outer);
  };
  const translateAll = (root) => {
    const texts = document.createNodeIterator(root, NodeFilter.SHOW_TEXT);
    const all = [];
    for (let text; (text = texts.nextNode()); ) all.push(text);
    all.forEach(translate);
  };
  addEventListener("DOMContentLoaded", () => {
    translateAll(document.body);
    new MutationObserver((changes) => {
      const nodes = changes.flatMap(({ target, addedNodes }) => [target, ...addedNodes]);
      for (const node of nodes) if (node.isConnected) translateAll(node);
    }).observe(document.body, { childList: true, subtree: true, characterData: true });
  });`;
