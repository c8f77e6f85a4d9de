package operator

// controllingTerminal is the console's input, wherever standard input leads.
const controllingTerminal = "CONIN$"
