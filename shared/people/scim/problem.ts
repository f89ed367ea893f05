/** The errors of SCIM (RFC 7644, 3.12). */

/** Of status 400 and 409; absent where a status says enough. */
type ScimType =
  | "invalidFilter"
  | "uniqueness"
  | "mutability"
  | "invalidSyntax"
  | "invalidPath"
  | "noTarget"
  | "tooMany"
  | "invalidValue";

/** A request that is answered with an error of SCIM's form. `detail` tells people the fault. */
export class Problem extends Error {
  readonly status: number;
  readonly scimType: ScimType | undefined;
  readonly headers: Record<string, string>;
  constructor(
    status: number,
    detail: string,
    { scimType, headers = {} }: { scimType?: ScimType; headers?: Record<string, string> } = {},
  ) {
    super(detail);
    this.name = "Problem";
    this.status = status;
    this.scimType = scimType;
    this.headers = headers;
  }
}

/** A request that cannot be understood or done. */
export const invalid = (scimType: ScimType, detail: string): Problem =>
  new Problem(400, detail, { scimType });
