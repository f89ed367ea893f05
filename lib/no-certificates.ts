/**
 * Replaces `@peculiar/x509` in the bundles. The library of passkeys checks with it who made an authenticator,
 * by certificates that nobody here asks for; it would be a third of the functions. A browser that sends one
 * is refused.
 */
class NoCertificates {
  constructor() {
    throw new Error("Attestation by certificates is not asked for");
  }
}

export {
  NoCertificates as AuthorityKeyIdentifierExtension,
  NoCertificates as CRLDistributionPointsExtension,
  NoCertificates as SubjectKeyIdentifierExtension,
  NoCertificates as X509Certificate,
  NoCertificates as X509ChainBuilder,
  NoCertificates as X509Crl,
};
