/** Typed data as wallets take it and as dossiers show it: with the domain, and the type of the domain. Safe in browsers. */
import { sealDomain } from '../../proof/seal.ts';
import type { TypedData } from '../../proof/signoff/typed-data.ts';

/** No chain and no contract: a statement of a worker is independent of where it is anchored. */
export const signedDomain = sealDomain;

export const domainType = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
];

/** What eth_signTypedData_v4 takes. Libraries mostly want the types without that of the domain. */
export type ShownTypedData<Given extends TypedData> = Given & {
  domain: typeof signedDomain;
  types: Given['types'] & { EIP712Domain: typeof domainType };
};

export function shownTypedData<Given extends TypedData>(given: Given): ShownTypedData<Given> {
  return { ...given, domain: signedDomain, types: { EIP712Domain: domainType, ...given.types } };
}

/** For a signer of viem. */
export function typedDataToSign({ types, primaryType, message }: TypedData) {
  return { domain: signedDomain, types, primaryType, message: message as Record<string, unknown> };
}
