import { type SignedIn, signedIn } from "../dashboard/signed-in.ts";
import type { Organization } from "../service/organization.ts";

export const signIn = ({ id }: Organization): Promise<SignedIn> => signedIn(id);
