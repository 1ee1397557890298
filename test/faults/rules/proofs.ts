/** Every version of every record has a proof that holds without the service, and the registry has its root. */
import type { Hex } from 'viem';
import { registryAbi, registryAddress } from '../../../src/chain/registry/registry.ts';
import { isEvmAnchor, type Proof } from '../../../src/proof/verify/proof.ts';
import { verifyProof } from '../../../src/proof/verify/verify.ts';
import { oraclePatienceMs } from '../client.ts';
import type { Fixture } from '../fixture.ts';
import type { Rule } from '../rule.ts';
import { expectNone } from '../violation.ts';
import { connect } from './anchors.ts';

const atOnce = 8;
/** What can be said of a proof without asking the chain. */
const offline = ['digest', 'claims', 'leaf', 'path', 'seal'];

export const everyProofHolds: Rule = {
  name: 'every proof verifies offline, and the registry has its root since the time it names',
  when: 'end',
  needsChain: true,
  async check(fixture) {
    const versions = fixture.journal.records.flatMap(({ id, versions }) =>
      versions.map(({ data }, place) => ({ id, data, version: place + 1 })),
    );
    const roots = new Map<string, Proof>();
    const wrong: unknown[] = [];
    const queue = versions.values();
    const work = async () => {
      for (const one of queue) {
        const fault = await faultOf(fixture, one, roots);
        if (fault !== null) wrong.push({ id: one.id, version: one.version, fault });
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    expectNone('proofs that do not hold', wrong);
    fixture.count('proofs verified', versions.length);

    const client = await connect(fixture);
    for (const { merkle, anchors } of roots.values()) {
      const [anchor] = anchors.filter(isEvmAnchor);
      const [time, size] = await client.readContract({
        abi: registryAbi,
        address: registryAddress,
        functionName: 'anchors',
        args: [anchor?.submitter as Hex, merkle.root],
      });
      if (Number(time) !== anchor?.blockTime || Number(size) !== merkle.size)
        wrong.push({ root: merkle.root, time, size, anchor });
    }
    expectNone('roots that the registry does not have as the proof says', wrong);
  },
};

interface Version {
  id: string;
  version: number;
  data: unknown;
}

async function faultOf(
  { client }: Fixture,
  { id, version, data }: Version,
  roots: Map<string, Proof>,
): Promise<unknown> {
  const path = `/platform/records/${id}/proof?version=${version}`;
  const { outcome, status, json } = await client({ method: 'GET', path, patienceMs: oraclePatienceMs });
  if (outcome !== 'acknowledged') return `answered ${status}: ${JSON.stringify(json)}`;
  const proof = json as Proof;
  const content = new TextEncoder().encode(JSON.stringify(data));
  const { steps } = await verifyProof(proof, { content });
  const failed = steps.filter(
    ({ name, status }) => status === 'fail' || (offline.includes(name) && status !== 'pass'),
  );
  if (failed.length > 0) return failed;
  roots.set(proof.merkle.root, proof);
  return null;
}
