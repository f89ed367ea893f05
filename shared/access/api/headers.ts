/** The headers of a request or authorizer event, whose names are in the client's case. */
export type Headers = { multiValueHeaders: Record<string, string[] | undefined> | null };

export const headerValues = (event: Headers, name: string): string[] =>
  Object.entries(event.multiValueHeaders ?? {})
    .filter(([header]) => header.toLowerCase() === name)
    .flatMap(([, values]) => values ?? []);
