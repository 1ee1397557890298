/** The product's own check of everything has nothing to say, and leaves nothing out. */
import { join } from 'node:path';
import { command } from '../../support/service/commands.ts';
import { firstDataDir } from '../nodes.ts';
import type { Rule } from '../rule.ts';
import { Violation } from '../violation.ts';

export const fsckFindsNothing: Rule = {
  name: 'holdfast fsck finds nothing and skips nothing',
  when: 'end',
  needsChain: true,
  async check({ home, settings, chain, count }) {
    const own = {
      ...settings,
      HOLDFAST_DATA_DIR: await chain.dataDir(),
      HOLDFAST_MASTER_KEY_FILE: join(firstDataDir(home), 'master.key'),
    };
    const { code, stdout, stderr } = await command(own, 'fsck', '--json');
    if (code !== 0)
      throw new Violation(`fsck ended with ${code}`, [stdout.slice(0, 4_000), stderr.slice(-4_000)]);
    count('rows checked by fsck', JSON.parse(stdout).checked);
  },
};
