/** The schema of proofs in responses, with an example for each kind of thing: a batch of one leaf. */
import { Type } from 'typebox';
import type { Hex } from 'viem';
import { registryAddress } from '../chain/registry/registry.ts';
import { emptyHead, headId } from '../proof/head.ts';
import { fromHex, toHex, zeroHash } from '../proof/hex.ts';
import { plainKeccak } from '../proof/keccak.ts';
import { claimsHash, leafHash, leafTypes, leafValues } from '../proof/leaf.ts';
import { foldPath } from '../proof/merkle.ts';
import { sealId } from '../proof/seal.ts';
import { type Claims, type Proof, type ProofContent, proofFormat } from '../proof/verify/proof.ts';
import { like, named, sample } from '../runtime/schemas.ts';

export const ProofSchema = named(
  { title: 'Proof', description: 'A proof that anyone can verify without this service' },
  Type.Object({ format: Type.String() }, { additionalProperties: true }),
);

interface ProvedSample {
  kind: string;
  id: string;
  digest: Hex;
  /** The digest is of bytes; otherwise it is of JSON with the salt of all examples. */
  raw?: boolean;
  claims?: object;
  /** The leaf that this one follows. */
  previousLeaf?: Hex;
}

/** The schema with a proof of this thing as its example; hashed only when the OpenAPI document is requested. */
export function proofOf(proved: ProvedSample): typeof ProofSchema {
  return like(ProofSchema, () => sampleProof(proved));
}

/** Follows the format; the seal is made up. */
export function sampleProof({ kind, id, digest, raw, claims, previousLeaf }: ProvedSample): Proof {
  const subject = { workspaceId: sample.workspaceId, id };
  const salted: Claims = { salt: claimsSalt, ...claims };
  const vault = sample.vaultAddress.toLowerCase() as Hex;
  const content: ProofContent = raw
    ? { algorithm: 'sha-256', digest, canonicalization: 'raw', salt: null }
    : { algorithm: 'sha-256', digest, canonicalization: 'jcs', salt: sample.salt };
  const values = leafValues({
    ...{ kind, digest, subject, vault, version: 1, canonicalization: content.canonicalization },
    previousLeaf: previousLeaf ?? zeroHash,
    claimsHash: claimsHash(salted),
  });
  const subtreeRoot = toHex(leafHash(values));
  const seal = { vault, subtreeRoot, leaves: 1, sequence: '41', previousSeal: zeroHash };
  const path = [sealId(seal, sample.signature), headId(emptyHead)];
  const root = path.reduce((node, sibling) => foldPath(node, sibling, plainKeccak), fromHex(subtreeRoot));
  return {
    format: proofFormat,
    kind,
    subject,
    content,
    claims: salted,
    leaf: { types: leafTypes, values },
    merkle: { proof: path.map(toHex), root: toHex(root), size: 1 },
    seal: { ...seal, depth: 0, signature: sample.signature },
    anchors: [
      {
        type: 'evm',
        chainId: sample.chainId,
        contract: registryAddress.toLowerCase() as Hex,
        submitter: '0x2b3ef1a250cf949a29fd846f7724c75c88ec8462',
        transactionHash: sample.transactionHash,
        blockNumber: sample.blockNumber,
        blockHash: '0x32fa9551d01426264136af13897c05eda2d76e0748b9f1235d432c42e78bad79',
        blockTime: Date.parse(sample.anchoredAt) / 1000,
        inclusion: null,
      },
    ],
    renewals: [],
  };
}

const claimsSalt = '0xbc2689bc6a9b2018dec482fb7c1718b17979b9c7f8dcae8791546848d62f1bd4';
