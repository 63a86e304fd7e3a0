// This file is empty. It lets controller.go declare a function without a body, which is
// linked to the controller's unexported sync.
