/** Maintenance entries, their sign-offs, and who looked at them. */

// biome-ignore lint/suspicious/noEmptyInterface: the tables come with their migration
export interface MaintenanceTables {}
