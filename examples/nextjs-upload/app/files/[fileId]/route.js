/** GET /files/{fileId}: the proof once the file is confirmed; until then its status. */
import { holdfast } from '../../../server/holdfast.js';

export async function GET(_request, { params }) {
  const { fileId } = await params;
  try {
    const { status } = await holdfast.getFile({ fileId });
    const isConfirmed = status === 'confirmed' || status === 'finalized';
    return Response.json({ status, proof: isConfirmed ? await holdfast.getFileProof({ fileId }) : null });
  } catch (error) {
    return Response.json({ message: error.message }, { status: error.status === 404 ? 404 : 502 });
  }
}
