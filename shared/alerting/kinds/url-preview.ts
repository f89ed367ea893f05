/** What may be shown of the url of an HTTP receiver. */

const hiddenPath = "/...";

/**
 * The part of a url that is not secret: the origin, plus a literal `/...` when the url has a path.
 */
export const urlPreview = (url: string): string => {
  const { origin, pathname } = new URL(url);
  return pathname === "/" ? origin : `${origin}${hiddenPath}`;
};

/** Whether a url is the preview of another url that has a path: nothing would be delivered there. */
export const isUrlPreview = (url: string): boolean => URL.parse(url)?.pathname === hiddenPath;
