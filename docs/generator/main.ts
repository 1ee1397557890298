/** `npm run docs`: writes the generated parts of documents anew. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generatedFiles, root } from './parts.ts';

const outdated = generatedFiles().filter(({ current, wanted }) => current !== wanted);
for (const { file, wanted } of outdated) {
  writeFileSync(join(root, file), wanted);
  console.log(`Updated ${file}`);
}
if (outdated.length === 0) console.log('All generated parts are current.');
