/** Formulas, loaded with the first text that may hold one. */

import "temml/dist/Temml-Local.css";
import "./math.css";
import "./copy";

export { MathML } from "./MathML";
export { remarkMath } from "./remark";
