/** `npm run contract:build`: compiles AnchorRegistry.sol and writes what is kept of it. */
import { writeFileSync } from 'node:fs';
import { artifactFile, artifactText, codeFile, codeText, compileRegistry } from './compile.ts';

const artifact = compileRegistry();
writeFileSync(artifactFile, artifactText(artifact));
writeFileSync(codeFile, codeText(artifact));
console.log(
  `${artifact.contractName} by ${artifact.compiler}: ${artifact.runtimeCode.length / 2 - 1} bytes of code`,
);
