/**
 * Which certifications are in force: one whose entry was corrected is withdrawn, whether the correction is certified or not,
 * and also while nothing proves the correction yet. The correction counts for itself.
 */
export interface Withdrawn {
  maintenanceId: string;
  correctedBy: string;
}

/** `certified`: entries with a valid, proven certification. The others: what corrects an entry, by its id. */
export function judgeCertifications(
  certified: ReadonlySet<string>,
  corrections: ReadonlyMap<string, string>,
  superseded: ReadonlyMap<string, string>,
): { certified: number; withdrawn: Withdrawn[] } {
  const withdrawn: Withdrawn[] = [];
  for (const maintenanceId of certified) {
    const correctedBy = corrections.get(maintenanceId) ?? superseded.get(maintenanceId);
    if (correctedBy !== undefined) withdrawn.push({ maintenanceId, correctedBy });
  }
  return { certified: certified.size - withdrawn.length, withdrawn };
}
