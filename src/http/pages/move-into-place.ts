/** Puts a finished build in the place of the previous one, while others read that, or finish one of their own. */
import { rename, rm } from 'node:fs/promises';

/** Both folders must be beside each other. Readers miss the old one only between two renames. */
export async function moveIntoPlace(fresh: string, folder: string): Promise<void> {
  const old = `${fresh}.old`;
  try {
    for (;;) {
      await rename(folder, old).catch(ignoring('ENOENT'));
      const isInPlace = await rename(fresh, folder).then(() => true, ignoring('ENOTEMPTY', 'EEXIST'));
      if (isInPlace) return;
      // Another build was there first.
      await rm(old, { recursive: true, force: true });
    }
  } finally {
    await rm(old, { recursive: true, force: true });
  }
}

function ignoring(...codes: string[]) {
  return (error: NodeJS.ErrnoException): void => {
    if (!codes.includes(error.code ?? '')) throw error;
  };
}
