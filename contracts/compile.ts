/** Compiles AnchorRegistry.sol to the artifact that is kept beside it: the same bytes on every machine. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import solc from 'solc';

export interface Artifact {
  contractName: string;
  /** With the commit of the compiler. */
  compiler: string;
  settings: typeof settings;
  abi: unknown[];
  creationCode: `0x${string}`;
  runtimeCode: `0x${string}`;
}

/** Beside this file: what the service imports, and the artifact for everyone else. */
export const artifactFile = join(import.meta.dirname, 'AnchorRegistry.json');
export const codeFile = join(import.meta.dirname, '../src/chain/registry/registry-code.ts');

const sourceFile = join(import.meta.dirname, 'AnchorRegistry.sol');
const require = createRequire(import.meta.url);

const settings = {
  // One deployment per chain, one anchor per batch. Against 200 runs it costs 20,592 gas more to deploy and 12 less per
  // anchor, so at a batch each second it has paid for itself within half an hour. More runs give the same code.
  optimizer: { enabled: true, runs: 1_000_000 },
  // Without the opcodes that came later (PUSH0, MCOPY), which not every chain has.
  evmVersion: 'paris',
  // No hash of the sources at the end: a changed comment must not move the contract to another address.
  metadata: { appendCBOR: false, bytecodeHash: 'none' },
};

export function compileRegistry(): Artifact {
  const contractName = 'AnchorRegistry';
  const input = {
    language: 'Solidity',
    sources: { [contractName]: { content: readFileSync(sourceFile, 'utf8') } },
    settings: {
      ...settings,
      outputSelection: {
        [contractName]: { [contractName]: ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] },
      },
    },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: readImport }));
  // Warnings too: there are none, and none should creep in.
  if (output.errors) {
    throw new Error(
      output.errors.map((error: { formattedMessage: string }) => error.formattedMessage).join('\n'),
    );
  }
  const { abi, evm } = output.contracts[contractName][contractName];
  return {
    contractName,
    compiler: solc.version(),
    settings,
    abi,
    creationCode: `0x${evm.bytecode.object}`,
    runtimeCode: `0x${evm.deployedBytecode.object}`,
  };
}

export function artifactText(artifact: Artifact): string {
  return `${JSON.stringify(artifact, null, 2)}\n`;
}

/** As TypeScript, because the verifier also runs in browsers, where JSON cannot be imported everywhere. */
export function codeText({ creationCode, runtimeCode }: Artifact): string {
  return [
    '/** The code of contracts/AnchorRegistry.sol, written by `npm run contract:build`. */',
    `export const registryCreationCode =\n  '${creationCode}';`,
    `export const registryRuntimeCode =\n  '${runtimeCode}';\n`,
  ].join('\n');
}

function readImport(path: string): { contents: string } | { error: string } {
  if (!path.startsWith('@openzeppelin/contracts/')) return { error: `${path} is not OpenZeppelin's` };
  return { contents: readFileSync(require.resolve(path), 'utf8') };
}
