/** Assets, who may see them and work on them, and where they are installed. */

// biome-ignore lint/suspicious/noEmptyInterface: the tables come with their migration
export interface AssetTables {}
