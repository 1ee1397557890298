/** Files with their versions, transfers and validations, and the blobs of their bytes. */

// biome-ignore lint/suspicious/noEmptyInterface: the tables come with their migration
export interface FileTables {}
