import { CfnOutput, Stack } from "aws-cdk-lib";
import {
  type CfnDomainName,
  DomainName,
  EndpointAccessMode,
  EndpointType,
  type RestApi,
  SecurityPolicy,
} from "aws-cdk-lib/aws-apigateway";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";

/** A name of the deployment's own, and the certificate for it, of the stack's region. */
export type ApiDomain = { name: string; certificateArn: string };

/** Of the context's values. Throws if only one is given, or if they are no host name and no certificate's ARN. */
export function readDomain(name: unknown, certificateArn: unknown): ApiDomain | undefined {
  if (name === undefined && certificateArn === undefined) return undefined;
  if (typeof name !== "string" || !/^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/.test(name)) {
    throw new Error(`domainName must be a host name in lower case, not "${name}"`);
  }
  if (
    typeof certificateArn !== "string" ||
    !/^arn:aws[\w-]*:acm:[\w-]+:\d{12}:certificate\/\S+$/.test(certificateArn)
  ) {
    throw new Error(`certificateArn must be the ARN of a certificate of ACM, not "${certificateArn}"`);
  }
  return { name, certificateArn };
}

/**
 * Serves the API under a name of its own: its base path `api` leads to the stage, so that paths are the same as under
 * the API's own name. Whoever deploys points the name at the output `DomainTarget`.
 */
export function serveUnderDomain(api: RestApi, { name, certificateArn }: ApiDomain): void {
  const domain = new DomainName(api, "Domain", {
    domainName: name,
    certificate: Certificate.fromCertificateArn(api, "Certificate", certificateArn),
    endpointType: EndpointType.REGIONAL,
  });
  const resource = domain.node.defaultChild as CfnDomainName;
  resource.securityPolicy = SecurityPolicy.TLS13_1_2_PFS_PQ_2025_09;
  resource.endpointAccessMode = EndpointAccessMode.STRICT;
  domain.addBasePathMapping(api, { basePath: "api" });
  new CfnOutput(Stack.of(api), "DomainTarget", { value: domain.domainNameAliasDomainName });
}
