/** `node bench/grow-chain.process.ts ANCHORS …`: makes the data directories of `embedded-growth` ahead of its run. */
import { openFixture } from './fixture.ts';
import { copyGrownChain } from './grown-chain.ts';

const sizes = process.argv.slice(2).map(Number);
if (sizes.length === 0 || !sizes.every((size) => Number.isSafeInteger(size) && size >= 0)) {
  console.error('Say how many anchors: node bench/grow-chain.process.ts 1000 10000 100000');
  process.exit(2);
}
const fixture = await openFixture();
const interrupt = () => void fixture.close();
process.on('SIGINT', interrupt);
process.on('SIGTERM', interrupt);
try {
  for (const size of sizes) await copyGrownChain(size, fixture);
} finally {
  await fixture.close();
}
