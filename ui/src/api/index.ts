export * from "./base";
export * from "./files";
export * from "./http";
export * from "./schemas";
export * from "./stream";
export * from "./verbs";
