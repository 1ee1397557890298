/** The page: choose a file, send it, and verify its proof in this browser. */
import { Upload } from './upload.js';

export default function Page() {
  return (
    <>
      <h1>Upload and verify</h1>
      <p>
        The file is stored, and its hash anchored. Then this browser checks the proof itself, byte for byte.
      </p>
      <Upload />
    </>
  );
}
