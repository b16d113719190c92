/** Connecting a model, for the first run, where the pages' own styles are not loaded yet. */

import "../pages.css";
import "./models.css";

export { ConnectModel as default } from "./ConnectModel";
