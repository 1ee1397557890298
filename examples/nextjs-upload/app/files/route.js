/** POST /files: streams the upload to the service, which hashes and encrypts it while it arrives. */
import { holdfast, vaultAddress } from '../../server/holdfast.js';

const mostBytes = 25 * 1024 * 1024;

export async function POST(request) {
  // Only pages of this app: other sites cannot set this header without its consent.
  const uploadId = request.headers.get('x-upload-id') ?? '';
  const size = Number(request.headers.get('content-length') ?? Number.NaN);
  if (!/^[\w-]{36}$/.test(uploadId)) return refuse(400, 'The header x-upload-id is missing.');
  if (!(size <= mostBytes)) return refuse(413, 'The file is larger than 25 MB.');
  const name = decodeURIComponent(request.headers.get('x-file-name') ?? 'file');
  const content = request.body ?? new Uint8Array();
  const mediaType = request.headers.get('content-type') ?? 'application/octet-stream';
  try {
    const file = await holdfast.createFile(
      { vaultAddress: await vaultAddress(), name, file: { content, name, mediaType, size } },
      // The page sends it again with the same id if the answer was lost: then nothing is stored twice.
      { idempotencyKey: uploadId },
    );
    return Response.json({ id: file.id, contentHash: file.contentHash }, { status: 201 });
  } catch (error) {
    console.error(error);
    return refuse(502, 'The file could not be stored. Try again.');
  }
}

function refuse(status, message) {
  return Response.json({ message }, { status });
}
