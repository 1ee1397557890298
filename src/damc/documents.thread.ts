/** The thread that makes all documents; see document-thread.ts. */
import { serveDrawings } from '../pdf/serve-drawings.ts';
import { drawCertificate } from '../platform/certificate.ts';
import { drawLogbook } from './logbook.ts';
import { drawReleaseCertificate, drawReleaseVolume } from './release-certificate.ts';

serveDrawings({
  certificate: drawCertificate,
  logbook: drawLogbook,
  releaseCertificate: drawReleaseCertificate,
  releaseVolume: drawReleaseVolume,
});
