/** The files of a ZIP archive that is in memory. */
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import yauzl from 'yauzl';

export async function filesOfZip(zip: Buffer): Promise<Map<string, Buffer>> {
  const archive = await promisify<Buffer, yauzl.Options, yauzl.ZipFile>(yauzl.fromBuffer)(zip, {
    lazyEntries: true,
  });
  const files = new Map<string, Buffer>();
  await new Promise<void>((resolve, reject) => {
    archive.on('error', reject).on('end', resolve);
    archive.on('entry', (entry: yauzl.Entry) => {
      archive.openReadStream(entry, (error, stream) => {
        if (error) return reject(error);
        buffer(stream).then((bytes) => {
          files.set(entry.fileName, bytes);
          archive.readEntry();
        }, reject);
      });
    });
    archive.readEntry();
  });
  return files;
}
